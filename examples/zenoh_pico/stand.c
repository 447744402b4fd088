// A controller for a microcontroller, on zenoh-pico with one thread: it holds the pose in which it
// finds the quadruped. docs/protocol.md describes every byte, docs/zenoh-pico.md the calls.
//
//     cc -O2 stand.c -lzenohpico -o stand && ./stand tcp/127.0.0.1:7447
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zenoh-pico.h>

enum { JOINTS = 12, COMMAND_BYTES = 56 + 40 * JOINTS };
// the layout of the robot, by `hardstand model`; 0 takes any robot of 12 joints
static const uint64_t LAYOUT_HASH = 0;

static uint8_t state[1024];
static size_t state_bytes;

static void on_state(z_loaned_sample_t *sample, void *context) {
    (void)context;
    z_bytes_reader_t reader = z_bytes_get_reader(z_sample_payload(sample));
    state_bytes = z_bytes_reader_read(&reader, state, sizeof state);
}

static uint64_t u64_at(const uint8_t *bytes) {
    uint64_t x;
    memcpy(&x, bytes, sizeof x);
    return x;
}

// The command that answers `state`; 0 bytes if it is another message.
static size_t command(uint8_t out[COMMAND_BYTES]) {
    static uint64_t session, seq;
    static double hold[JOINTS];
    static bool driven;
    const uint8_t header[4] = {'H', 'S', 7, 1}, of_command[4] = {'H', 'S', 7, 3};
    const uint64_t count = JOINTS, at_once = 0;
    if (state_bytes < 280 + 24 * JOINTS || memcmp(state, header, sizeof header) != 0) return 0;
    if (LAYOUT_HASH != 0 && u64_at(state + 4) != LAYOUT_HASH) return 0;

    uint8_t authority = state[35];
    bool first = session == 0;
    driven = driven || authority == 1;
    if (first || (driven && (authority == 0 || authority == 3))) {
        // secret: a program that knows it can command in this controller's name
        session = z_random_u64() | 1;
        driven = false;
    }
    seq += 1;
    for (int i = 0; first && i < JOINTS; i++) memcpy(&hold[i], state + 280 + 24 * i, sizeof(double));

    memcpy(out, of_command, 4);
    memcpy(out + 4, state + 4, 8);    // layout
    memcpy(out + 12, state + 12, 4);  // run
    memcpy(out + 16, &session, 8);
    memcpy(out + 24, &seq, 8);
    memcpy(out + 32, state + 16, 8);  // answers this tick
    memcpy(out + 40, &at_once, 8);
    memcpy(out + 48, &count, 8);
    for (int i = 0; i < JOINTS; i++) {
        const double point[5] = {hold[i], 0.0, 100.0, 3.0, 0.0};  // q, dq, kp, kd, tau_ff
        memcpy(out + 56 + 40 * i, point, sizeof point);
    }
    return COMMAND_BYTES;
}

int main(int argc, char **argv) {
    z_owned_config_t config;
    z_config_default(&config);
    zp_config_insert(z_loan_mut(config), Z_CONFIG_MODE_KEY, "client");
    zp_config_insert(z_loan_mut(config), Z_CONFIG_CONNECT_KEY,
                     argc > 1 ? argv[1] : "tcp/127.0.0.1:7447");
    z_owned_session_t session;
    if (z_open(&session, z_move(config), NULL) < 0) {
        fprintf(stderr, "no session: is the daemon running?\n");
        return 1;
    }

    z_view_keyexpr_t states, commands;
    z_view_keyexpr_from_str_unchecked(&states, "hardstand/quadruped/state");
    z_view_keyexpr_from_str_unchecked(&commands, "hardstand/quadruped/cmd");
    z_owned_publisher_t publisher;
    z_publisher_options_t options;
    z_publisher_options_default(&options);
    options.congestion_control = Z_CONGESTION_CONTROL_DROP;
    options.is_express = true;
    z_owned_closure_sample_t closure;
    z_closure(&closure, on_state, NULL, NULL);
    if (z_declare_publisher(z_loan(session), &publisher, z_loan(commands), &options) < 0 ||
        z_declare_background_subscriber(z_loan(session), z_loan(states), z_move(closure), NULL) < 0) {
        fprintf(stderr, "no subscriber or publisher\n");
        return 1;
    }

    for (;;) {
        zp_read(z_loan(session), NULL);
        zp_send_keep_alive(z_loan(session), NULL);
        uint8_t bytes[COMMAND_BYTES];
        size_t length = state_bytes > 0 ? command(bytes) : 0;
        state_bytes = 0;
        if (length > 0) {
            z_owned_bytes_t payload;
            z_bytes_copy_from_buf(&payload, bytes, length);
            z_publisher_put(z_loan(publisher), z_move(payload), NULL);
        }
    }
}
