// A stub of zenoh-pico: see README.
#ifndef ZENOH_PICO_H
#define ZENOH_PICO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define z_loan(x) (&(x))
#define z_loan_mut(x) (&(x))
#define z_move(x) (&(x))
#define z_closure(closure, call, drop, context) z_closure_sample(closure, call, drop, context)
#define Z_CONFIG_MODE_KEY 0x40
#define Z_CONFIG_CONNECT_KEY 0x41

typedef int8_t z_result_t;
typedef struct { bool client, connects; } z_owned_config_t, z_moved_config_t, z_loaned_config_t;
typedef struct { uint8_t bytes[2048]; size_t length; } z_owned_bytes_t, z_moved_bytes_t, z_loaned_bytes_t;
typedef struct { const z_loaned_bytes_t *bytes; size_t at; } z_bytes_reader_t;
typedef struct { z_loaned_bytes_t payload; } z_loaned_sample_t;
typedef void (*z_closure_sample_callback_t)(z_loaned_sample_t *sample, void *arg);
typedef void (*z_closure_drop_callback_t)(void *arg);
typedef struct { z_closure_sample_callback_t call; void *context; } z_owned_closure_sample_t, z_moved_closure_sample_t;
typedef struct { const char *text; } z_view_keyexpr_t, z_loaned_keyexpr_t;
typedef enum { Z_CONGESTION_CONTROL_BLOCK = 0, Z_CONGESTION_CONTROL_DROP = 1 } z_congestion_control_t;
typedef struct { z_congestion_control_t congestion_control; bool is_express; } z_publisher_options_t;
typedef struct { int unused; } z_open_options_t, z_subscriber_options_t, z_publisher_put_options_t;
typedef struct { int unused; } zp_read_options_t, zp_send_keep_alive_options_t;
typedef struct { int unused; } z_owned_session_t, z_loaned_session_t;
typedef struct { z_publisher_options_t options; } z_owned_publisher_t, z_loaned_publisher_t;

static z_owned_closure_sample_t stub_on_sample;

static inline z_result_t z_config_default(z_owned_config_t *config) {
    *config = (z_owned_config_t){false, false};
    return 0;
}
static inline z_result_t zp_config_insert(z_loaned_config_t *config, uint8_t key, const char *value) {
    if (key == Z_CONFIG_MODE_KEY) config->client = strcmp(value, "client") == 0;
    if (key == Z_CONFIG_CONNECT_KEY) config->connects = true;
    return 0;
}
static inline z_result_t z_open(z_owned_session_t *zs, z_moved_config_t *config, const z_open_options_t *options) {
    (void)zs, (void)options;
    return config->client && config->connects ? 0 : -1;
}
static inline z_result_t z_view_keyexpr_from_str_unchecked(z_view_keyexpr_t *keyexpr, const char *name) {
    keyexpr->text = name;
    return 0;
}
static inline z_result_t z_closure_sample(z_owned_closure_sample_t *closure, z_closure_sample_callback_t call,
                                          z_closure_drop_callback_t drop, void *context) {
    (void)drop;
    *closure = (z_owned_closure_sample_t){call, context};
    return 0;
}
static inline void z_publisher_options_default(z_publisher_options_t *options) {
    *options = (z_publisher_options_t){Z_CONGESTION_CONTROL_BLOCK, false};
}
static inline z_result_t z_declare_publisher(const z_loaned_session_t *zs, z_owned_publisher_t *pub,
                                             const z_loaned_keyexpr_t *keyexpr, const z_publisher_options_t *options) {
    (void)zs;
    pub->options = *options;
    return strcmp(keyexpr->text, "hardstand/quadruped/cmd") == 0 ? 0 : -1;
}
static inline z_result_t z_declare_background_subscriber(const z_loaned_session_t *zs, const z_loaned_keyexpr_t *keyexpr,
                                                         z_moved_closure_sample_t *callback,
                                                         const z_subscriber_options_t *options) {
    (void)zs, (void)options;
    stub_on_sample = *callback;
    return strcmp(keyexpr->text, "hardstand/quadruped/state") == 0 ? 0 : -1;
}
static inline const z_loaned_bytes_t *z_sample_payload(const z_loaned_sample_t *sample) { return &sample->payload; }
static inline z_bytes_reader_t z_bytes_get_reader(const z_loaned_bytes_t *bytes) {
    return (z_bytes_reader_t){bytes, 0};
}
static inline size_t z_bytes_reader_read(z_bytes_reader_t *reader, uint8_t *dst, size_t len) {
    size_t rest = reader->bytes->length - reader->at, taken = len < rest ? len : rest;
    memcpy(dst, reader->bytes->bytes + reader->at, taken);
    reader->at += taken;
    return taken;
}
static inline z_result_t z_bytes_copy_from_buf(z_owned_bytes_t *bytes, const uint8_t *data, size_t len) {
    memcpy(bytes->bytes, data, len);
    bytes->length = len;
    return 0;
}
static inline z_result_t z_publisher_put(const z_loaned_publisher_t *pub, z_moved_bytes_t *payload,
                                         const z_publisher_put_options_t *options) {
    (void)options;
    if (!pub->options.is_express || pub->options.congestion_control != Z_CONGESTION_CONTROL_DROP) exit(3);
    uint32_t length = (uint32_t)payload->length;
    fwrite(&length, sizeof length, 1, stdout);
    fwrite(payload->bytes, 1, length, stdout);
    return fflush(stdout) == 0 ? 0 : -1;
}
// one state, or the end of the program when there are no more
static inline z_result_t zp_read(const z_loaned_session_t *zs, const zp_read_options_t *options) {
    (void)zs, (void)options;
    static z_loaned_sample_t sample;
    uint32_t length;
    if (fread(&length, sizeof length, 1, stdin) != 1 || length > sizeof sample.payload.bytes ||
        fread(sample.payload.bytes, 1, length, stdin) != length)
        exit(0);
    sample.payload.length = length;
    stub_on_sample.call(&sample, stub_on_sample.context);
    return 0;
}
static inline z_result_t zp_send_keep_alive(const z_loaned_session_t *zs, const zp_send_keep_alive_options_t *options) {
    (void)zs, (void)options;
    return 0;
}
static inline uint64_t z_random_u64(void) {
    uint64_t x = 0;
    FILE *from = fopen("/dev/urandom", "rb");
    if (from == NULL || fread(&x, sizeof x, 1, from) != 1) exit(2);
    fclose(from);
    return x;
}

#endif
