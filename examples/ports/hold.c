/* Holds the robot's first posture over shared memory, docs/port.md. No library is needed:
 *     cc -O2 hold.c -o hold && ./hold /dev/shm/robot 5000
 * Prints how long it took from one state to the next, with the answer and the tick in between. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { OPEN = 5, STATE_COUNTER = 8, COMMAND_COUNTER = 16, JOINTS = 264, JOINTS_MAX = 64 };

static uint32_t crc32(const uint8_t *bytes, size_t count) {
    uint32_t crc = 0xffffffffu;
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t n = 0; n < 256; n++) {
            table[n] = n;
            for (int k = 0; k < 8; k++) table[n] = table[n] >> 1 ^ (table[n] & 1 ? 0xedb88320u : 0);
        }
    for (size_t n = 0; n < count; n++) crc = crc >> 8 ^ table[(crc ^ bytes[n]) & 0xff];
    return ~crc;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Copies the newest state; waits for one with another counter than `seen`. */
static uint64_t next_state(int file, volatile uint64_t *words, uint64_t seen, uint8_t *state) {
    for (uint64_t n = 1;; n++) {
        uint64_t counter = __atomic_load_n(&words[STATE_COUNTER], __ATOMIC_ACQUIRE);
        if (counter != seen && counter % 2 == 0) {
            memcpy(state, (const uint8_t *)words + words[1], words[2]);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (words[STATE_COUNTER] == counter) return counter;
        }
        if (n % 20000 == 0) {
            /* the daemon has ended, or was killed: then its lock is free */
            if (!words[OPEN] || !flock(file, LOCK_SH | LOCK_NB)) exit(3);
            usleep(50);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: hold FILE STATES\n"), 2;
    int file = open(argv[1], O_RDWR);
    struct stat size;
    if (file < 0 || fstat(file, &size)) return perror(argv[1]), 2;
    /* one peer at a time; the kernel gives the lock back when its holder ends, however it ends */
    if (lockf(file, F_TLOCK, 0)) return fprintf(stderr, "%s: another peer has it\n", argv[1]), 5;
    volatile uint64_t *words =
        mmap(NULL, (size_t)size.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (words == MAP_FAILED || memcmp((const void *)words, "HSSHM001", 8)) return 2;

    static uint8_t state[16384], command[16384];
    uint64_t seen = 0, sequence = 0, count = strtoull(argv[2], NULL, 10), before = 0;
    uint64_t *times = calloc(count, sizeof *times);
    double hold[JOINTS_MAX] = {0};
    for (uint64_t n = 0; n < count; n++) {
        seen = next_state(file, words, seen, state);
        uint64_t at = now_ns();
        times[n] = before ? at - before : 0;
        before = at;
        uint16_t joints, kind = 2;
        uint32_t bytes;
        memcpy(&joints, state + 6, 2);
        memcpy(&bytes, state + 8, 4);
        uint32_t sum;
        memcpy(&sum, state + bytes - 8, 4);
        if (joints > JOINTS_MAX || sum != crc32(state, bytes - 8)) return 4;

        memcpy(command, state, 40); /* magic, run, layout and tick are those of the state */
        memcpy(command + 4, &kind, 2);
        bytes = 40 + 40u * joints + 8;
        memcpy(command + 8, &bytes, 4);
        sequence++;
        memcpy(command + 24, &sequence, 8);
        for (int j = 0; j < joints; j++) {
            if (n == 0) memcpy(&hold[j], state + JOINTS + 24 * j, 8);
            double set_point[5] = {hold[j], 0.0, 100.0, 3.0, 0.0};
            memcpy(command + 40 + 40 * j, set_point, 40);
        }
        sum = crc32(command, bytes - 8);
        memcpy(command + bytes - 8, &sum, 4);
        uint64_t counter = words[COMMAND_COUNTER] & ~1ull;
        words[COMMAND_COUNTER] = counter + 1;
        __atomic_thread_fence(__ATOMIC_RELEASE);
        memcpy((uint8_t *)words + words[3], command, bytes);
        __atomic_store_n(&words[COMMAND_COUNTER], counter + 2, __ATOMIC_RELEASE);
    }
    qsort(times, count, sizeof *times, by_size);
    printf("states %llu, from state to state p50 %.1f us, p99 %.1f us, p99.9 %.1f us\n",
           (unsigned long long)count, times[count / 2] / 1e3, times[count * 99 / 100] / 1e3,
           times[count * 999 / 1000] / 1e3);
    return 0;
}
