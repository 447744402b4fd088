/* A client without a daemon: each call ends when its patience does. */

#include <stdio.h>
#include <string.h>

#include "hardstand.h"
#include "hardstand.h" /* twice is once */

int main(int argc, char **argv) {
  const HardstandConnection connection = {.endpoint = argc > 1 ? argv[1] : NULL};
  HardstandClient *client = NULL;
  const HardstandModel *model = (const HardstandModel *)argv;
  HardstandController *controller = (HardstandController *)argv;
  HardstandEvents *events = (HardstandEvents *)argv;
  HardstandStatus status;
  const HardstandJoin join = {.name = "legs"};
  const uint64_t patience_ns = 200000000;
  if (hardstand_connect(&connection, &client) != HARDSTAND_OK) return 1;
  if (hardstand_is_connected(client) != 0) return 2;
  if (hardstand_model(client, patience_ns, &model) != HARDSTAND_BUS || model) return 3;
  if (!strstr(hardstand_last_error(), "no daemon answers")) return 4;
  if (hardstand_status(client, 0, &status) != HARDSTAND_BUS) return 5;
  if (hardstand_join(client, &join, patience_ns, &controller) != HARDSTAND_BUS || controller) return 6;
  if (hardstand_control(client, patience_ns, &controller) != HARDSTAND_BUS || controller) return 7;
  if (hardstand_events_open(client, patience_ns, &events) != HARDSTAND_BUS || events) return 8;
  if (hardstand_stop(client, patience_ns, NULL) != HARDSTAND_BUS) return 9;
  hardstand_client_free(client);
  return 0;
}
