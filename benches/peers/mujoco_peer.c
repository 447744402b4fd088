/* MuJoCo's side of the comparison: mujoco_peer NAME=MODEL.xml ...
 *
 * Requests on stdin, one line of answer each:
 *   hot NAME STEPS     ns per step, mean over STEPS steps without a pause; the height of the base
 *   cold NAME STEPS    ns of each step, one step per millisecond, the thread sleeping in between
 *
 * A step is one mj_step of 1 ms of simulated time: position actuators (PD with the same gains and
 * effort limits as in the other engines), joint limits, collision of the spheres of the feet with a
 * plane, constraint solver, integration, and what mj_step does besides. Options are in the models;
 * robots.py writes them. Each robot first stands for five seconds and must be still by then.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <mujoco/mujoco.h>

#define SETTLE_S 5.0
#define STILL 1e-3
#define SAG_MAX_M 0.03

typedef struct {
  const char* name;
  mjModel* model;
  mjData* hot;
  mjData* cold;
} Robot;

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void stop(const char* what, const char* name) {
  fprintf(stderr, "mujoco_peer: %s: %s\n", name, what);
  exit(1);
}

/* A robot that has stood until it is still. */
static mjData* standing(const mjModel* m, const char* name) {
  mjData* d = mj_makeData(m);
  mj_resetDataKeyframe(m, d, 0);
  double height = d->qpos[2], fastest = 0;
  while (d->time < SETTLE_S) mj_step(m, d);
  for (int i = 0; i < m->nv; i++) fastest = fmax(fastest, fabs(d->qvel[i]));
  if (!(fastest < STILL)) stop("still moves after five seconds", name);
  if (!(fabs(d->qpos[2] - height) < SAG_MAX_M)) stop("has sunk", name);
  if (d->ncon == 0) stop("touches nothing", name);
  return d;
}

static void load(Robot* robot, char* argument) {
  char error[500] = "";
  char* path = strchr(argument, '=');
  if (!path) stop("expected NAME=MODEL.xml", argument);
  *path++ = 0;
  robot->name = argument;
  robot->model = mj_loadXML(path, NULL, error, sizeof error);
  if (!robot->model) stop(error, path);
  robot->hot = standing(robot->model, argument);
  robot->cold = standing(robot->model, argument);
}

static void hot(Robot* robot, int steps) {
  double begun = now_ns();
  for (int i = 0; i < steps; i++) mj_step(robot->model, robot->hot);
  printf("%.3f %.17g\n", (now_ns() - begun) / steps, robot->hot->qpos[2]);
}

static void cold(Robot* robot, int steps) {
  struct timespec due;
  clock_gettime(CLOCK_MONOTONIC, &due);
  for (int i = 0; i < steps; i++) {
    due.tv_nsec += 1000000;
    if (due.tv_nsec >= 1000000000) {
      due.tv_nsec -= 1000000000;
      due.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
    double begun = now_ns();
    mj_step(robot->model, robot->cold);
    printf("%s%.0f", i ? " " : "", now_ns() - begun);
  }
  printf("\n");
}

int main(int argc, char** argv) {
  Robot robots[16];
  int count = argc - 1 < 16 ? argc - 1 : 16, steps;
  char line[200], kind[16], name[64];
  for (int i = 0; i < count; i++) load(&robots[i], argv[i + 1]);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "%15s %63s %d", kind, name, &steps) != 3) stop("not a request", line);
    int i = 0;
    while (i < count && strcmp(robots[i].name, name)) i++;
    if (i == count || steps < 1) stop("not a request", line);
    if (!strcmp(kind, "cold")) {
      cold(&robots[i], steps);
    } else {
      hot(&robots[i], steps);
    }
    fflush(stdout);
  }
  return 0;
}
