/* Wrong arguments, and refusals: each is an error with a reason, and none ends the program. */

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hardstand.h"

#define PATIENCE_NS UINT64_C(60000000000)

static int failures = 0;

static void expect(int line, int result, int expected, const char *reason) {
  const char *said = hardstand_last_error();
  if (result == expected && (result == HARDSTAND_OK || strstr(said, reason))) return;
  printf("line %d: %d in place of %d: %s\n", line, result, expected, said);
  ++failures;
}
#define EXPECT(call, expected, reason) expect(__LINE__, call, expected, reason)
#define CHECK(claim) check(__LINE__, claim, #claim)
#define REFUSED(call, reason) EXPECT(call, HARDSTAND_REFUSED, reason)
#define FINE(call) EXPECT(call, HARDSTAND_OK, "")

static void check(int line, int holds, const char *claim) {
  if (holds) return;
  printf("line %d: %s\n", line, claim);
  ++failures;
}

static void *waits(void *controller) {
  HardstandState state;
  hardstand_next_state(controller, UINT64_C(3000000000), &state);
  return NULL;
}

static void null_pointers(HardstandClient *client) {
  HardstandState state;
  HardstandJoined joined;
  HardstandEvent event;
  HardstandStatus status;
  HardstandController *controller = NULL;
  HardstandEvents *events = NULL;
  const HardstandModel *model = NULL;
  const HardstandJoin join = {.name = "legs"};
  const HardstandJoin unnamed = {.name = NULL};
  const HardstandPush push = {.link = NULL};
  REFUSED(hardstand_connect(NULL, NULL), "client is NULL");
  REFUSED(hardstand_model(NULL, 0, &model), "client is NULL");
  REFUSED(hardstand_model(client, 0, NULL), "model is NULL");
  REFUSED(hardstand_status(NULL, 0, &status), "client is NULL");
  REFUSED(hardstand_status(client, 0, NULL), "status is NULL");
  REFUSED(hardstand_join(NULL, &join, 0, &controller), "client is NULL");
  REFUSED(hardstand_join(client, NULL, 0, &controller), "join is NULL");
  REFUSED(hardstand_join(client, &join, 0, NULL), "controller is NULL");
  REFUSED(hardstand_join(client, &unnamed, 0, &controller), "name is NULL");
  REFUSED(hardstand_control(NULL, 0, &controller), "client is NULL");
  REFUSED(hardstand_control(client, 0, NULL), "controller is NULL");
  REFUSED(hardstand_next_state(NULL, 0, &state), "controller is NULL");
  REFUSED(hardstand_answer(NULL, NULL, 0), "controller is NULL");
  REFUSED(hardstand_join_again(NULL), "controller is NULL");
  REFUSED(hardstand_joined(NULL, &joined), "controller is NULL");
  REFUSED(hardstand_leave(NULL, 0), "controller is NULL");
  REFUSED(hardstand_events_open(NULL, 0, &events), "client is NULL");
  REFUSED(hardstand_events_open(client, 0, NULL), "events is NULL");
  REFUSED(hardstand_events_next(NULL, 0, &event), "events is NULL");
  REFUSED(hardstand_pause(NULL, 0, NULL), "client is NULL");
  REFUSED(hardstand_stop(NULL, 0, NULL), "client is NULL");
  REFUSED(hardstand_push(client, NULL, 0, NULL), "push is NULL");
  REFUSED(hardstand_push(client, &push, 0, NULL), "link is NULL");
  REFUSED(hardstand_friction(client, 9, 0, 1.0, 1.0, PATIENCE_NS, NULL), "scope is 9");
  REFUSED(hardstand_friction(client, 0, 1, 1.0, 1.0, PATIENCE_NS, NULL), "index is 1");
  REFUSED(hardstand_check_layout(HARDSTAND_ABI_VERSION + 1, NULL, 0), "of the interface");
  REFUSED(hardstand_check_layout(HARDSTAND_ABI_VERSION, NULL, 3), "sizes is NULL");
  const uint32_t sizes[10] = {1};
  REFUSED(hardstand_check_layout(HARDSTAND_ABI_VERSION, sizes, 10), "have [1, 0, 0");
  FINE(hardstand_check());
  CHECK(!hardstand_is_connected(NULL));
  CHECK(hardstand_abi_version() == HARDSTAND_ABI_VERSION);
  hardstand_client_free(NULL);
  hardstand_controller_free(NULL);
  hardstand_events_free(NULL);
  hardstand_model_free(NULL);
}

static void connections(void) {
  HardstandClient *client = NULL;
  const HardstandConnection odd = {.endpoint = "carrier-pigeon"};
  const HardstandConnection user = {.user = "ann"};
  const HardstandConnection tls = {.tls_key = "key.pem"};
  const HardstandConnection file = {.user = "ann", .password_file = "/nowhere"};
  const HardstandConnection bytes = {.robot = "\xff"};
  REFUSED(hardstand_connect(&odd, &client), "endpoint \"carrier-pigeon\" must be");
  REFUSED(hardstand_connect(&user, &client), "user and password_file need each other");
  REFUSED(hardstand_connect(&tls, &client), "need each other");
  REFUSED(hardstand_connect(&file, &client), "password file /nowhere: No such file");
  REFUSED(hardstand_connect(&bytes, &client), "robot is not UTF-8");
  CHECK(!client);
}

static void joins(HardstandClient *client) {
  HardstandController *none = NULL;
  const char *const tail[] = {"tail"};
  const char *const nothing[] = {NULL};
  const HardstandJoin odd = {.name = "odd one"};
  const HardstandJoin unknown = {.name = "blind", .joints = tail, .joint_count = 1};
  const HardstandJoin hollow = {.name = "blind", .joints = nothing, .joint_count = 1};
  const HardstandJoin missing = {.name = "blind", .joint_count = 2};
  const HardstandJoin late = {.name = "late", .offset_ticks = 8};
  const HardstandJoin role = {.name = "late", .role = 300};
  REFUSED(hardstand_join(client, &odd, PATIENCE_NS, &none), "it must be 1 to 64 letters");
  REFUSED(hardstand_join(client, &unknown, PATIENCE_NS, &none), "joint \"tail\" is unknown");
  REFUSED(hardstand_join(client, &hollow, PATIENCE_NS, &none), "a name in joints is NULL");
  REFUSED(hardstand_join(client, &missing, PATIENCE_NS, &none), "joints is NULL");
  REFUSED(hardstand_join(client, &late, PATIENCE_NS, &none), "offset_ticks is 8");
  REFUSED(hardstand_join(client, &role, PATIENCE_NS, &none), "role is 300");
  CHECK(!none);
}

static void control(HardstandClient *client) {
  HardstandController *controller = NULL, *second = NULL;
  HardstandState state;
  HardstandJoined joined;
  HardstandJointCommand commands[12] = {{0}};
  const char *const rear[] = {"RR_calf_joint", "RL_calf_joint"};
  const HardstandJoin first = {.name = "rear", .joints = rear, .joint_count = 2};
  const HardstandJoin thief = {.name = "thief"};
  FINE(hardstand_join(client, &first, PATIENCE_NS, &controller));
  REFUSED(hardstand_join(client, &thief, PATIENCE_NS, &second), "belongs to the controller \"rear\"");
  FINE(hardstand_joined(controller, &joined));
  CHECK(joined.joint_count == 2 && joined.joint_index[0] == 8 && joined.joint_index[1] == 11);
  CHECK(joined.mode == HARDSTAND_MODE_LOCKSTEP);
  REFUSED(hardstand_answer(controller, commands, 2), "no state waits for an answer");
  FINE(hardstand_next_state(controller, PATIENCE_NS, &state));
  CHECK(state.joint_count == 12 && state.foot_count == 4 && state.q[1] == 0.8);
  REFUSED(hardstand_next_state(controller, 0, NULL), "state is NULL");
  REFUSED(hardstand_answer(controller, NULL, 2), "commands is NULL, and its length is 2");
  REFUSED(hardstand_answer(controller, commands, 1), "n is 1; it must be 2");
  REFUSED(hardstand_answer(controller, commands, 12), "n is 12; it must be 2");
  REFUSED(hardstand_answer(controller, commands, SIZE_MAX), "cannot be an array");
  commands[1].kp = NAN;
  REFUSED(hardstand_answer(controller, commands, 2), "kp of RR_calf_joint is NaN");
  commands[1].kp = 0.0;
  FINE(hardstand_answer(controller, commands, 2));
  REFUSED(hardstand_answer(controller, commands, 2), "no state waits for an answer");
  FINE(hardstand_next_state(controller, PATIENCE_NS, &state));
  CHECK(state.answers_tick == state.tick - 1);
  FINE(hardstand_join_again(controller));
  FINE(hardstand_next_state(controller, PATIENCE_NS, &state));
  FINE(hardstand_answer(controller, commands, 2));
  FINE(hardstand_pause(client, PATIENCE_NS, NULL));
  while (hardstand_next_state(controller, UINT64_C(300000000), &state) == HARDSTAND_OK) {
    FINE(hardstand_answer(controller, commands, 2));
  }

  /* a second thread in a call with the same handle; paused, so that the first one waits */
  pthread_t thread;
  const struct timespec moment = {0, 500000000};
  CHECK(pthread_create(&thread, NULL, waits, controller) == 0);
  nanosleep(&moment, NULL);
  REFUSED(hardstand_next_state(controller, 0, &state), "one user at a time");
  pthread_join(thread, NULL);
  EXPECT(hardstand_next_state(controller, 0, &state), HARDSTAND_NONE, "");

  FINE(hardstand_leave(controller, PATIENCE_NS));
  REFUSED(hardstand_next_state(controller, 0, &state), "has left the run");
  REFUSED(hardstand_answer(controller, commands, 2), "has left the run");
  REFUSED(hardstand_joined(controller, &joined), "has left the run");
  REFUSED(hardstand_join_again(controller), "has left the run");
  REFUSED(hardstand_leave(controller, 0), "has left the run");
  hardstand_controller_free(controller);
}

int main(int argc, char **argv) {
  const HardstandConnection connection = {.endpoint = argc > 1 ? argv[1] : NULL};
  HardstandClient *client = NULL;
  const HardstandModel *model = NULL;
  FINE(hardstand_connect(&connection, &client));
  FINE(hardstand_model(client, PATIENCE_NS, &model));
  null_pointers(client);
  connections();
  joins(client);
  control(client);
  hardstand_model_free(model);
  hardstand_client_free(client);
  if (failures == 0) printf("ok\n");
  return failures != 0;
}
