// The client of a Hardstand daemon for C. docs/c-and-cpp.md describes it.
//
// Results are HARDSTAND_OK and others; hardstand_last_error has the reason. Numbers are SI. Each
// function says whether it blocks and allocates, and from which thread it may be called:
// "Any thread": any number of threads at once. "One thread at a time": a second thread that is in
// a call with the same handle gets HARDSTAND_REFUSED. A patience is the longest wait, in ns.
//
// This file is written from the source of libhardstand by its tests. Do not edit it.

#ifndef HARDSTAND_H
#define HARDSTAND_H

#include <stddef.h>
#include <stdint.h>

// The version of this interface. It changes when a program must be compiled again.
#define HARDSTAND_ABI_VERSION 1

// Done. The results are those of the exit codes of `hardstand`.
#define HARDSTAND_OK 0

// No state or event came within the patience, and the daemon is connected. Not an error.
#define HARDSTAND_NONE 1

// An argument, a file of credentials, a join or an order was refused.
#define HARDSTAND_REFUSED 2

// A log is incomplete. No function of this version gives it.
#define HARDSTAND_INCOMPLETE 3

// Real-time rights were refused. No function of this version gives it.
#define HARDSTAND_REAL_TIME 4

// The daemon does not answer, the connection is closed, or the daemon is too busy.
#define HARDSTAND_BUS 5

// A defect of this library.
#define HARDSTAND_INTERNAL 70

// `mode`: ticks do not wait for controllers.
#define HARDSTAND_MODE_REAL_TIME 0

// `mode`: ticks wait for the answers of required controllers.
#define HARDSTAND_MODE_LOCKSTEP 1

// `mode`: ticks wait for a limited time.
#define HARDSTAND_MODE_BUDGETED 2

// `phase`: the daemon waits for a controller.
#define HARDSTAND_PHASE_WAITING 0

// `phase`: ticks run.
#define HARDSTAND_PHASE_RUNNING 1

// `phase`: a plant failure has stopped the run.
#define HARDSTAND_PHASE_FAILED 2

// `phase`: paused.
#define HARDSTAND_PHASE_PAUSED 3

// `authority`: the drives make no effort.
#define HARDSTAND_AUTHORITY_ZERO 0

// `authority`: the drives obey a command that came for this tick.
#define HARDSTAND_AUTHORITY_FRESH 1

// `authority`: the drives hold the last command.
#define HARDSTAND_AUTHORITY_HELD 2

// `authority`: the joints are damped.
#define HARDSTAND_AUTHORITY_DAMPED 3

// `authority`: emergency stop.
#define HARDSTAND_AUTHORITY_STOPPED 4

// `role`: in lockstep, ticks wait for this controller.
#define HARDSTAND_ROLE_REQUIRED 0

// `role`: its commands are used if they are there.
#define HARDSTAND_ROLE_ADVISORY 1

// `role`: has no joints, and answers nothing.
#define HARDSTAND_ROLE_OBSERVER 2

// `scope` of friction: all stations.
#define HARDSTAND_SCOPE_ALL 0

// `scope` of friction: the station with this index.
#define HARDSTAND_SCOPE_STATION 1

// `scope` of friction: the foot with this index.
#define HARDSTAND_SCOPE_FOOT 2

// `scope` of friction: the region of the ground with this index.
#define HARDSTAND_SCOPE_REGION 3

// `answers_tick` of a state without a command in force.
#define HARDSTAND_NO_TICK UINT64_MAX

// A connection to a daemon, for questions and orders. Any number of threads may use it at once.
typedef struct HardstandClient HardstandClient;

// A controller. It has a connection of its own, and one user at a time, in any thread.
typedef struct HardstandController HardstandController;

// Events since it was opened, up to 1000 that wait. It has a connection of its own, and one user
// at a time.
typedef struct HardstandEvents HardstandEvents;

// The complete state of a run, as `hardstand_snapshot` gives it. It never changes: any number of
// threads may use it.
typedef struct HardstandSaved HardstandSaved;

// What `hardstand_connect` is given. A null pointer stands for the default. The texts are copied.
typedef struct HardstandConnection {
  // "tcp/HOST:PORT", "unixsock-stream/PATH" or "tls/HOST:PORT". By default the environment
  // variable HARDSTAND_CONNECT, or else "tcp/127.0.0.1:7447".
  const char *endpoint;
  // Name of the robot. By default HARDSTAND_ROBOT, or else "quadruped".
  const char *robot;
  // Name of this program in events and logs: 1 to 64 letters, digits, "-", "_" or ".". By
  // default "pid-" and the number of the process.
  const char *asker;
  // User; needs `password_file`.
  const char *user;
  // File with the password alone; only its owner may read it.
  const char *password_file;
  // PEM file of the own certificate, for an endpoint "tls/…"; needs the next two.
  const char *tls_certificate;
  // PEM file of the certificate's private key; only its owner may read it.
  const char *tls_key;
  // PEM file of the certificate authority of the daemon's certificate.
  const char *tls_ca;
} HardstandConnection;

// A joint. No limit is ±infinity.
typedef struct HardstandJoint {
  // Name in the URDF.
  const char *name;
  // 0 revolute (rad, N·m), 1 prismatic (m, N).
  uint32_t kind;
  // Initial position.
  double q_initial;
  // Lower position limit.
  double q_min;
  // Upper position limit.
  double q_max;
  // Largest effort.
  double effort_max;
  // Largest velocity.
  double velocity_max;
  // Stiffness with which the scenario suggests to hold a position.
  double hold_kp;
  // Damping for that.
  double hold_kd;
} HardstandJoint;

// Description of robot and run. Free it with `hardstand_model_free`. It does not change, so any
// number of threads may read it.
typedef struct HardstandModel {
  // Layout hash: names, order and period.
  uint64_t layout_hash;
  // Length of a tick, ns.
  uint64_t period_ns;
  // Oldest age at which a command is held, ticks.
  uint64_t hold_ticks;
  // Ticks of damping after that.
  uint64_t damped_ticks;
  // Run number.
  uint32_t run_id;
  // Length of `joints`.
  uint32_t joint_count;
  // Length of `feet`.
  uint32_t foot_count;
  // Length of `stations`.
  uint32_t station_count;
  // Length of `regions`.
  uint32_t region_count;
  // Joints in the order of states and commands.
  const struct HardstandJoint *joints;
  // Names of the feet in the order of states.
  const char *const *feet;
  // Names of the stations.
  const char *const *stations;
  // Names of the regions of the ground whose friction can be changed.
  const char *const *regions;
  // Robot name.
  const char *robot;
  // Name of the base link.
  const char *base_link;
  // Version of the daemon.
  const char *version;
  // Largest `kp` of a command.
  double kp_max;
  // Largest `kd` of a command.
  double kd_max;
  // Mass of the robot, kg.
  double mass_kg;
  // Gravity in the world, m/s².
  double gravity_m_per_s2[3];
} HardstandModel;

// How the daemon is doing.
typedef struct HardstandStatus {
  // Ticks done.
  uint64_t tick;
  // Simulated time, ns.
  uint64_t time_ns;
  // Run number.
  uint32_t run_id;
  // HARDSTAND_MODE_…
  uint8_t mode;
  // HARDSTAND_PHASE_…, or 4 if a tick waits for a controller.
  uint8_t phase;
  // Plant failure: 0 none, 1 not finite, 2 out of range.
  uint8_t failure;
  // HARDSTAND_AUTHORITY_…
  uint8_t authority;
  // Controllers that have joined.
  uint32_t controller_count;
  // Controllers that the loop waits for now.
  uint32_t missing_count;
  // Simulated seconds per second of wall time that the loop tries to keep; 0 for no limit.
  double speed;
  // Simulated seconds per second of wall time since the last status.
  double real_time_factor;
} HardstandStatus;

// What `hardstand_join` is given. Zeros are the defaults, except for `name`.
typedef struct HardstandJoin {
  // Name of the controller: 1 to 64 letters, digits, "-", "_" or ".".
  const char *name;
  // Names of the joints that it commands; null for all.
  const char *const *joints;
  // Number of those names; 0 with null.
  uint32_t joint_count;
  // HARDSTAND_ROLE_…
  uint32_t role;
  // Ticks between two states that it answers; 0 for 1.
  uint64_t period_ticks;
  // Remainder of their ticks by the period.
  uint64_t phase_ticks;
  // Ticks from the state that it answers to the tick at which the answer applies.
  uint64_t offset_ticks;
  // Hash of robot and scenario as far as they decide the physics; 0 for any.
  uint64_t physics_hash;
  // Secret number of the session. 0 draws one. A program that is started again and gives the
  // same number and name continues the lease of its predecessor.
  uint64_t session;
} HardstandJoin;

// State of the robot after `tick` ticks. What a robot measures comes first. What only a simulator
// knows has `truth` in its name. The arrays belong to the handle and hold until its next call.
typedef struct HardstandState {
  // Ticks done.
  uint64_t tick;
  // Simulated time, ns.
  uint64_t time_ns;
  // Tick of the state that the command in force answers; HARDSTAND_NO_TICK for none.
  uint64_t answers_tick;
  // Digest of all ticks of the run so far.
  uint64_t digest;
  // Run number; a reset starts the next one.
  uint32_t run_id;
  // HARDSTAND_MODE_…
  uint8_t mode;
  // HARDSTAND_PHASE_…
  uint8_t phase;
  // Plant failure: 0 none, 1 not finite, 2 out of range.
  uint8_t failure;
  // HARDSTAND_AUTHORITY_…
  uint8_t authority;
  // Length of `q`, `dq` and `tau`: all joints of the robot.
  uint32_t joint_count;
  // Length of `foot_contact` and `foot_normal_n`.
  uint32_t foot_count;
  // Positions in the order of the model, rad or m.
  const double *q;
  // Velocities, rad/s or m/s.
  const double *dq;
  // Efforts that the motors made in the last micro-step, N·m or N.
  const double *tau;
  // 1 if the foot is down (debounced), else 0.
  const uint8_t *foot_contact;
  // Normal force on the foot, N.
  const double *foot_normal_n;
  // Orientation of the IMU in the world: w, x, y, z.
  double imu_quat_wxyz[4];
  // Angular velocity in IMU axes, rad/s.
  double imu_angular_velocity_rad_per_s[3];
  // Specific force in IMU axes, m/s²: +9.81 on z at rest.
  double imu_specific_force_m_per_s2[3];
  // Position of the base origin in the world, m.
  double truth_base_position_m[3];
  // Orientation of the base in the world: w, x, y, z.
  double truth_base_quat_wxyz[4];
  // Velocity of the base origin in world axes, m/s.
  double truth_base_velocity_m_per_s[3];
  // Angular velocity of the base in world axes, rad/s.
  double truth_base_angular_velocity_rad_per_s[3];
  // What a controller that walks is asked for: ahead and to the left, m/s; turn to the left,
  // rad/s.
  double velocity_command[3];
} HardstandState;

// Set-point of a joint's drive. The motor makes
// `tau_ff + kp (q - q_measured) + kd (dq - dq_measured)`, limited to the joint's effort.
typedef struct HardstandJointCommand {
  // Position, rad or m.
  double q;
  // Velocity, rad/s or m/s.
  double dq;
  // Stiffness, N·m/rad or N/m.
  double kp;
  // Damping, N·m·s/rad or N·s/m.
  double kd;
  // Feed-forward effort, N·m or N.
  double tau_ff;
} HardstandJointCommand;

// A controller's part in the run. The arrays belong to the handle and hold until its next call.
typedef struct HardstandJoined {
  // The first state that it answers.
  uint64_t first_tick;
  // The number by which its session is published; 0 for an observer.
  uint64_t session;
  // How often it was late for too long, lost its joints and joined again.
  uint64_t losses;
  // In real time: states that were skipped because a newer one was there already.
  uint64_t skipped;
  // Run number.
  uint32_t run_id;
  // HARDSTAND_MODE_…
  uint8_t mode;
  // Number of its joints: the length of a command, and of the arrays.
  uint32_t joint_count;
  // Places of its joints in the model, ascending.
  const uint32_t *joint_index;
  // Set-points in force until its first command applies.
  const struct HardstandJointCommand *in_force;
} HardstandJoined;

// An event of the daemon. The texts belong to the handle and hold until its next call.
typedef struct HardstandEvent {
  // The tick in which it happened: the state before it has this number.
  uint64_t tick;
  // Time of that state, ns.
  uint64_t time_ns;
  // Run number.
  uint32_t run_id;
  // One word: join, leave, stop, arm, push, friction, fault, clear, conflict, gave_up,
  // plant_failure, lost or order.
  const char *kind;
  // The controller that it is about; empty if it is about none.
  const char *controller;
  // Sender of the order; empty for anything else.
  const char *asker;
  // For people.
  const char *text;
} HardstandEvent;

// A constant force on a link, for some ticks.
typedef struct HardstandPush {
  // Name of the link.
  const char *link;
  // Point of attack in the link's frame, m.
  double point_link_m[3];
  // Force in world axes, N.
  double force_world_n[3];
  // Duration, ticks.
  uint64_t ticks;
} HardstandPush;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the interface of this library: HARDSTAND_ABI_VERSION of its header.
// Any thread; does not block or allocate.
uint32_t hardstand_abi_version(void);

// The version of this library as text. Any thread; does not block or allocate.
const char *hardstand_version(void);

// Compares the version and the sizes of the structs in a header with this library. Call
// `hardstand_check`, which has those of its header. Any thread; does not block.
// `sizes` points to `n` numbers.
int32_t hardstand_check_layout(uint32_t abi_version, const uint32_t *sizes, size_t n);

// The message of the last error of this thread: what was refused or failed, with value and range.
// Empty if there was none. It holds until the next error of this thread. Any thread; does not
// block or allocate.
const char *hardstand_last_error(void);

// A few words for a result. Any thread; does not block or allocate.
const char *hardstand_result_name(int32_t result);

// Opens a connection. It is made in the background; `hardstand_model` waits for it.
// Any thread; does not wait for the daemon, allocates, and the first one starts threads.
// Null for `connection` stands for the defaults.
//
// HARDSTAND_REFUSED: a malformed endpoint, or a file of credentials that is missing or that others
// can read.
int32_t hardstand_connect(const struct HardstandConnection *connection,
                          struct HardstandClient **client);

// Closes a connection. Handles that were opened with it remain. Null is allowed. Blocks for some
// milliseconds. Call it before `main` returns.
void hardstand_client_free(struct HardstandClient *client);

// 1 if there is a connection to a daemon, else 0. Any thread; allocates.
int32_t hardstand_is_connected(const struct HardstandClient *client);

// Asks for the description of robot and run, again and again for `patience_ns`.
// Any thread; blocks for up to `patience_ns` and a second; allocates.
//
// HARDSTAND_BUS: no daemon answers, or it rejects the credentials.
int32_t hardstand_model(const struct HardstandClient *client,
                        uint64_t patience_ns,
                        const struct HardstandModel **model);

// Frees a description. Null is allowed. Any thread; does not block.
// `model` was given by `hardstand_model`, and is not used any more.
void hardstand_model_free(const struct HardstandModel *model);

// Asks how the daemon is doing; the answer is up to a second old. Any thread; blocks for up to
// `patience_ns` and a second; allocates.
//
// HARDSTAND_BUS: no daemon answers.
int32_t hardstand_status(const struct HardstandClient *client,
                         uint64_t patience_ns,
                         struct HardstandStatus *status);

// Joins a run: the controller gets the states of its schedule, and answers each. In lockstep the
// daemon waits for the answers. Any thread; blocks until the daemon has answered three times, each
// for up to `patience_ns` and a second; allocates, and opens a connection.
//
// HARDSTAND_REFUSED: the daemon refuses.
// `hardstand_last_error` has what it expected and what came.
// HARDSTAND_BUS: it does not answer, or is too busy.
int32_t hardstand_join(const struct HardstandClient *client,
                       const struct HardstandJoin *join,
                       uint64_t patience_ns,
                       struct HardstandController **controller);

// Controls the robot without joining, in real time: gets the newest state, and commands apply as
// soon as they arrive, while no controller has joined. Also to watch states. As `hardstand_join`.
int32_t hardstand_control(const struct HardstandClient *client,
                          uint64_t patience_ns,
                          struct HardstandController **controller);

// The next state to answer; in real time the newest. Joins again after a reset, and in real time
// after it was late for too long and lost its joints. One thread at a time; blocks for up to
// `patience_ns`, and when it joins again, for as long as `hardstand_join`; allocates.
// With `patience_ns` 0 it does not wait.
//
// HARDSTAND_NONE: no state came, and the daemon is connected: it is paused, or waits for another
// controller. HARDSTAND_BUS: no state came, and the connection is closed: the daemon has stopped.
// HARDSTAND_REFUSED: it lost its joints, and joining again was refused.
int32_t hardstand_next_state(const struct HardstandController *controller,
                             uint64_t patience_ns,
                             struct HardstandState *state);

// Answers the state that `hardstand_next_state` gave last, once, with the set-points of the joints
// of this controller, in the order of the model. One thread at a time; allocates; may wait 0.1 ms
// for the connection, and drops the command then. In lockstep the daemon asks again.
//
// HARDSTAND_REFUSED: `n` is not the number of its joints, a set-point is out of its range (nothing
// is sent, and the state can be answered still), or there is no state to answer.
// `commands` points to `n` set-points.
int32_t hardstand_answer(const struct HardstandController *controller,
                         const struct HardstandJointCommand *commands,
                         size_t n);

// Joins again under the same name and session. `hardstand_next_state` does so by itself, except
// after a daemon was started anew, and in lockstep. As `hardstand_join`.
int32_t hardstand_join_again(const struct HardstandController *controller);

// The controller's part in the run. One thread at a time; does not block.
int32_t hardstand_joined(const struct HardstandController *controller,
                         struct HardstandJoined *joined);

// Leaves the run: ticks no longer wait for this controller, and its joints are free for others.
// Only `hardstand_controller_free` may follow. One thread at a time; blocks for up to
// `patience_ns` and a second, not at all if the daemon is gone; allocates.
//
// HARDSTAND_BUS: the daemon does not answer, or is gone. The handle has left all the same.
int32_t hardstand_leave(const struct HardstandController *controller, uint64_t patience_ns);

// Ends a controller. Without `hardstand_leave` before, the daemon treats it like one that was
// killed: in lockstep it waits for it, in real time its joints are damped. Null is allowed. Blocks
// for some milliseconds. Call it before `main` returns, and when no call with it is under way.
void hardstand_controller_free(struct HardstandController *controller);

// Subscribes to events. Any thread; blocks until the daemon answers, for up to `patience_ns` and a
// second; allocates.
//
// HARDSTAND_BUS: no daemon answers.
int32_t hardstand_events_open(const struct HardstandClient *client,
                              uint64_t patience_ns,
                              struct HardstandEvents **events);

// The next event. One thread at a time; blocks for up to `patience_ns`; allocates.
//
// HARDSTAND_NONE: none came. HARDSTAND_BUS: none came, and the connection is closed.
int32_t hardstand_events_next(const struct HardstandEvents *events,
                              uint64_t patience_ns,
                              struct HardstandEvent *event);

// Ends the subscription. Null is allowed. Blocks for some milliseconds. Call it before `main`
// returns.
void hardstand_events_free(struct HardstandEvents *events);

// Injects a fault; `hardstand faults` and docs/faults.md list the kinds. `part` is "joint",
// "foot", "link", "station" or "region" and `name` the name of one; null for all there is.
// `values` are the `n` numbers of the kind's parameters, one after the other. It lasts `ticks`
// ticks, with 0 until it is cleared. `tick` gets the first tick of the fault; it may be null. Any
// thread; blocks until the daemon answers, for up to twice `patience_ns` and two seconds;
// allocates.
//
// HARDSTAND_REFUSED: the daemon refuses, `hardstand_last_error` has field, value and range.
// HARDSTAND_BUS: it does not answer, or is too busy.
int32_t hardstand_fault(const struct HardstandClient *client,
                        const char *kind,
                        const char *part,
                        const char *name,
                        const double *values,
                        size_t n,
                        uint64_t ticks,
                        uint64_t patience_ns,
                        uint64_t *tick);

// Clears faults: of one kind, on one part, or with null all of them. `tick` gets the first tick
// without them. As `hardstand_fault`.
int32_t hardstand_clear_faults(const struct HardstandClient *client,
                               const char *kind,
                               const char *part,
                               const char *name,
                               uint64_t patience_ns,
                               uint64_t *tick);

// Takes the complete state. `saved` gets it, to be freed with `hardstand_saved_free`. Any thread;
// blocks as `hardstand_fault`; allocates.
int32_t hardstand_snapshot(const struct HardstandClient *client,
                           uint64_t patience_ns,
                           struct HardstandSaved **saved);

// Continues from a saved state, as the next run. `tick` gets the tick of the state; it may be
// null. As `hardstand_fault`.
//
// HARDSTAND_REFUSED: the state is that of another robot or scenario, or it is damaged.
int32_t hardstand_restore(const struct HardstandClient *client,
                          const struct HardstandSaved *saved,
                          uint64_t patience_ns,
                          uint64_t *tick);

// The tick of a saved state; 0 for null. Any thread; does not block or allocate.
uint64_t hardstand_saved_tick(const struct HardstandSaved *saved);

// The bytes of a saved state, for a file: `n` gets their number. They belong to `saved`. Null for
// null. Any thread; does not block or allocate.
const uint8_t *hardstand_saved_bytes(const struct HardstandSaved *saved, size_t *n);

// A saved state from the `n` bytes that `hardstand_saved_bytes` gave. Any thread; does not block;
// allocates.
//
// HARDSTAND_REFUSED: they are not those of a saved state.
int32_t hardstand_saved_read(const uint8_t *bytes, size_t n, struct HardstandSaved **saved);

// Frees a saved state. Null is allowed. Any thread; does not block.
void hardstand_saved_free(struct HardstandSaved *saved);

// Pauses. `tick` gets the first tick to which the order applies; it may be null, in each order.
// Any thread; blocks until the daemon answers, for up to twice `patience_ns` and two seconds;
// allocates.
//
// HARDSTAND_REFUSED: the daemon refuses, `hardstand_last_error` has field, value and range.
// HARDSTAND_BUS: it does not answer, or is too busy.
int32_t hardstand_pause(const struct HardstandClient *client, uint64_t patience_ns, uint64_t *tick);

// Resumes after a pause. As `hardstand_pause`.
int32_t hardstand_resume(const struct HardstandClient *client,
                         uint64_t patience_ns,
                         uint64_t *tick);

// Runs `ticks` ticks, then pauses. `tick` gets the number of ticks at the pause. As
// `hardstand_pause`.
int32_t hardstand_step(const struct HardstandClient *client,
                       uint64_t ticks,
                       uint64_t patience_ns,
                       uint64_t *tick);

// Runs until there are `end_tick` ticks, then pauses. As `hardstand_pause`.
int32_t hardstand_run_until(const struct HardstandClient *client,
                            uint64_t end_tick,
                            uint64_t patience_ns,
                            uint64_t *tick);

// Emergency stop: all joints are damped, and no command is obeyed until `hardstand_arm`. It holds
// for whichever run there is, and has a way of its own in the daemon. Any thread; blocks for up to
// `patience_ns` and a second; allocates.
int32_t hardstand_stop(const struct HardstandClient *client, uint64_t patience_ns, uint64_t *tick);

// Ends the emergency stop. As `hardstand_pause`.
int32_t hardstand_arm(const struct HardstandClient *client, uint64_t patience_ns, uint64_t *tick);

// Begins the next run in the initial state. `rewind` 1: published time begins at 0 again, too.
// Controllers join again by themselves. As `hardstand_pause`.
int32_t hardstand_reset(const struct HardstandClient *client,
                        uint8_t rewind,
                        uint64_t patience_ns,
                        uint64_t *tick);

// Sets the simulated seconds per second of wall time, 0.001 to 1000; 0 for as many as the machine
// allows. As `hardstand_pause`.
int32_t hardstand_speed(const struct HardstandClient *client,
                        double speed,
                        uint64_t patience_ns,
                        uint64_t *tick);

// Asks controllers that walk for a velocity: ahead and to the left, m/s, and a turn to the left,
// rad/s; each -100 to 100. It is `velocity_command` of the states, until the next one. As
// `hardstand_pause`.
int32_t hardstand_velocity(const struct HardstandClient *client,
                           double vx_m_per_s,
                           double vy_m_per_s,
                           double yaw_rate_rad_per_s,
                           uint64_t patience_ns,
                           uint64_t *tick);

// Pushes a link. As `hardstand_pause`.
int32_t hardstand_push(const struct HardstandClient *client,
                       const struct HardstandPush *push,
                       uint64_t patience_ns,
                       uint64_t *tick);

// Sets the coefficients of friction of all stations, or of the station, foot or region with this
// index in the model. `scope` is HARDSTAND_SCOPE_…, and `index` is 0 for all stations. As
// `hardstand_pause`.
int32_t hardstand_friction(const struct HardstandClient *client,
                           uint32_t scope,
                           uint32_t index,
                           double mu_static,
                           double mu_kinetic,
                           uint64_t patience_ns,
                           uint64_t *tick);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#ifdef __cplusplus
extern "C" {
#endif
// Compares this header with the library that is linked. Call it first: HARDSTAND_REFUSED if the
// program was compiled with the header of another version. Any thread; does not block.
static inline int32_t hardstand_check(void) {
  const uint32_t sizes[10] = {
      (uint32_t)sizeof(HardstandConnection),   (uint32_t)sizeof(HardstandJoin),
      (uint32_t)sizeof(HardstandJointCommand), (uint32_t)sizeof(HardstandState),
      (uint32_t)sizeof(HardstandJoined),       (uint32_t)sizeof(HardstandJoint),
      (uint32_t)sizeof(HardstandModel),        (uint32_t)sizeof(HardstandEvent),
      (uint32_t)sizeof(HardstandStatus),       (uint32_t)sizeof(HardstandPush)};
  return hardstand_check_layout(HARDSTAND_ABI_VERSION, sizes, 10);
}
#ifdef __cplusplus
}
#endif

#endif // HARDSTAND_H
