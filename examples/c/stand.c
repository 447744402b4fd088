/* A controller in C: it answers every state and holds the initial joint positions.
 *
 *   hardstand run config/quadruped.toml              # one terminal; or with --mode lockstep
 *   cc examples/c/stand.c -o stand $(pkg-config --cflags --libs hardstand)
 *   ./stand                                          # another: [ENDPOINT [TICKS]]
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hardstand.h"

#define JOINTS_MAX 256 /* of any robot */
#define SECOND_NS UINT64_C(1000000000)

static int run(HardstandClient *client, HardstandController **controller, uint64_t ticks) {
  const HardstandModel *model;
  int result = hardstand_model(client, 30 * SECOND_NS, &model); /* waits for the daemon */
  if (result != HARDSTAND_OK) return result;

  HardstandJointCommand commands[JOINTS_MAX] = {{0}};
  const uint32_t n = model->joint_count;
  for (uint32_t i = 0; i < n; ++i) {
    commands[i].q = model->joints[i].q_initial;
    commands[i].kp = model->joints[i].hold_kp;
    commands[i].kd = model->joints[i].hold_kd;
  }
  hardstand_model_free(model);

  const HardstandJoin join = {.name = "legs"};
  result = hardstand_join(client, &join, 5 * SECOND_NS, controller);
  if (result != HARDSTAND_OK) return result;

  /* in lockstep every state; in real time the newest. It joins again after a loss or a reset */
  for (;;) {
    HardstandState state;
    result = hardstand_next_state(*controller, 5 * SECOND_NS, &state);
    if (result != HARDSTAND_OK) return result;
    /* your control law goes here: state.q, state.imu_quat_wxyz, state.foot_contact -> commands */
    result = hardstand_answer(*controller, commands, n);
    if (result != HARDSTAND_OK) return result;
    if (state.tick >= ticks) {
      printf("tick %" PRIu64 ", base at %.4f m, digest %016" PRIx64 "\n", state.tick,
             state.truth_base_position_m[2], state.digest);
      return hardstand_leave(*controller, 5 * SECOND_NS);
    }
  }
}

int main(int argc, char **argv) {
  const HardstandConnection connection = {.endpoint = argc > 1 ? argv[1] : NULL};
  const uint64_t ticks = argc > 2 ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
  HardstandClient *client = NULL;
  HardstandController *controller = NULL;
  int result = hardstand_check();
  if (result == HARDSTAND_OK) result = hardstand_connect(&connection, &client);
  if (result == HARDSTAND_OK) result = run(client, &controller, ticks);
  if (result == HARDSTAND_NONE) fprintf(stderr, "stand: no state for 5 s: it is paused\n");
  if (result > HARDSTAND_NONE) fprintf(stderr, "stand: %s\n", hardstand_last_error());
  hardstand_controller_free(controller);
  hardstand_client_free(client);
  return result;
}
