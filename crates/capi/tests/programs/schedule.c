/* A controller with a schedule that holds the joints until it has answered the first state of its
   schedule from TICKS on, which may come after later ones if it was lost:
   [ENDPOINT TICKS PERIOD PHASE OFFSET]. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hardstand.h"

#define PATIENCE_NS UINT64_C(60000000000)

static uint64_t number(const char *text) { return strtoull(text, NULL, 10); }

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  const HardstandConnection connection = {.endpoint = argv[1]};
  const HardstandJoin join = {.name = "legs",
                              .period_ticks = number(argv[3]),
                              .phase_ticks = number(argv[4]),
                              .offset_ticks = number(argv[5])};
  const uint64_t ticks = number(argv[2]), period = join.period_ticks;
  const uint64_t last =
      join.phase_ticks + (ticks - join.phase_ticks + period - 1) / period * period;
  HardstandClient *client = NULL;
  HardstandController *controller = NULL;
  const HardstandModel *model = NULL;
  HardstandJointCommand commands[256] = {{0}};
  HardstandState state;
  if (hardstand_connect(&connection, &client) != HARDSTAND_OK) return 3;
  if (hardstand_model(client, PATIENCE_NS, &model) != HARDSTAND_OK) return 4;
  for (uint32_t i = 0; i < model->joint_count; ++i) {
    commands[i].q = model->joints[i].q_initial;
    commands[i].kp = model->joints[i].hold_kp;
    commands[i].kd = model->joints[i].hold_kd;
  }
  if (hardstand_join(client, &join, PATIENCE_NS, &controller) != HARDSTAND_OK) return 5;
  do {
    if (hardstand_next_state(controller, PATIENCE_NS, &state) != HARDSTAND_OK) return 6;
    if (hardstand_answer(controller, commands, model->joint_count) != HARDSTAND_OK) return 7;
  } while (state.tick != last);
  printf("tick %" PRIu64 ", digest %016" PRIx64 "\n", state.tick, state.digest);
  hardstand_controller_free(controller);
  hardstand_model_free(model);
  hardstand_client_free(client);
  return 0;
}
