/* Exchanges per second in lockstep, a state and its answer each, and CPU time of the process for
 * one, µs. [ENDPOINT TICKS] */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hardstand.h"

static double now_s(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  const HardstandConnection connection = {.endpoint = argc > 2 ? argv[1] : NULL};
  const uint64_t ticks = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
  const uint64_t patience_ns = UINT64_C(60000000000);
  const HardstandJoin join = {.name = "legs"};
  HardstandClient *client = NULL;
  HardstandController *controller = NULL;
  const HardstandModel *model = NULL;
  HardstandJointCommand commands[256] = {{0}};
  HardstandState state;
  double begin_s = 0.0, begin_cpu_s = 0.0;
  if (hardstand_connect(&connection, &client) != HARDSTAND_OK) return 1;
  if (hardstand_model(client, patience_ns, &model) != HARDSTAND_OK) return 1;
  for (uint32_t i = 0; i < model->joint_count; ++i) {
    commands[i].q = model->joints[i].q_initial;
    commands[i].kp = model->joints[i].hold_kp;
    commands[i].kd = model->joints[i].hold_kd;
  }
  if (hardstand_join(client, &join, patience_ns, &controller) != HARDSTAND_OK) return 1;
  do {
    if (hardstand_next_state(controller, patience_ns, &state) != HARDSTAND_OK) return 1;
    if (state.tick == 100) {
      begin_s = now_s(CLOCK_MONOTONIC);
      begin_cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    }
    if (hardstand_answer(controller, commands, model->joint_count) != HARDSTAND_OK) return 1;
  } while (state.tick < ticks + 100);
  printf("%.0f per s, CPU %.1f us\n", (double)ticks / (now_s(CLOCK_MONOTONIC) - begin_s),
         1e6 * (now_s(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu_s) / (double)ticks);
  hardstand_controller_free(controller);
  hardstand_model_free(model);
  hardstand_client_free(client);
  return 0;
}
