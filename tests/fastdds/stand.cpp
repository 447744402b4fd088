// A program on Fast DDS, with ROS 2's names and types but without ROS: it holds the robot of a daemon
// with ros2.mode = "dds" where it stands, and calls a service. Types are written by hand.
//
//     c++ -std=c++17 stand.cpp -o stand -lfastrtps -lfastcdr && ./stand [DOMAIN]
//
// It prints "Done!" at its end, or what failed, with exit code 1.

#include <cmath>

#include "peer.hpp"

struct JointState {
  int32_t sec = 0;
  uint32_t nanosec = 0;
  std::string frame;
  std::vector<std::string> name;
  std::vector<double> position, velocity, effort;

  void write(Cdr& cdr) const { cdr << sec << nanosec << frame << name << position << velocity << effort; }
  void read(Cdr& cdr) { cdr >> sec >> nanosec >> frame >> name >> position >> velocity >> effort; }
  double time() const { return sec + 1e-9 * nanosec; }
};

struct SetBoolRequest {
  bool data = false;

  void write(Cdr& cdr) const { cdr << data; }
  void read(Cdr& cdr) { cdr >> data; }
};

struct SetBoolResponse {
  bool success = false;
  std::string message;

  void write(Cdr& cdr) const { cdr << success << message; }
  void read(Cdr& cdr) { cdr >> success >> message; }
};

// Calls std_srvs/SetBool as rmw_fastrtps does: the answer names the request it belongs to.
void call(DataWriter* requests, DataReader* replies, bool data) {
  SetBoolRequest request;
  request.data = data;
  WriteParams params;
  check(requests->write(&request, params), "the request could not be written");
  const SampleIdentity asked = params.sample_identity();
  SetBoolResponse answer;
  SampleInfo info;
  check(next(replies, 10, answer, info), "no answer");
  check(info.related_sample_identity == asked, "the answer is another request's");
  check(answer.success, "refused: " + answer.message);
}

// Answers each state with where the robot began, for so many seconds of simulated time.
JointState hold(DataReader* states, DataWriter* commands, double seconds, JointState command, double begin) {
  JointState state;
  SampleInfo info;
  do {
    check(next(states, 10, state, info), "no further state");
    command.sec = state.sec;
    command.nanosec = state.nanosec;
    check(commands->write(&command), "a command could not be written");
  } while (state.time() < begin + seconds);
  return state;
}

// The newest state after so many seconds of wall time.
JointState newest(DataReader* states, double seconds, JointState state) {
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  SampleInfo info;
  while (Clock::now() < end) next(states, 0.1, state, info);
  return state;
}

int main(int argc, char** argv) {
  Peer peer(argc > 1 ? std::atoi(argv[1]) : 0);
  const char* joint_state = "sensor_msgs::msg::dds_::JointState_";
  DataReader* states = peer.reader<JointState>("rt/joint_states", joint_state);
  DataWriter* commands = peer.writer<JointState>("rt/joint_commands", joint_state);
  DataReader* replies =
      peer.reader<SetBoolResponse>("rr/hardstand/pauseReply", "std_srvs::srv::dds_::SetBool_Response_");
  DataWriter* requests =
      peer.writer<SetBoolRequest>("rq/hardstand/pauseRequest", "std_srvs::srv::dds_::SetBool_Request_");

  JointState first;
  SampleInfo info;
  check(next(states, 20, first, info), "no state: the daemon was not found");
  check(first.name.size() == 12 && first.position.size() == 12, "these are not the states of twelve joints");
  wait_for_match(commands, "rt/joint_commands");
  wait_for_match(requests, "rq/hardstand/pauseRequest");

  JointState command;
  command.name = first.name;
  command.position = first.position;
  JointState last = hold(states, commands, 2, command, first.time());
  double far = 0;
  for (size_t i = 0; i < 12; ++i) far = std::max(far, std::fabs(last.position[i] - first.position[i]));
  std::printf("held for %.2f s, at most %.3f rad away\n", last.time() - first.time(), far);
  check(far < 0.3, "the joints are not held");

  call(requests, replies, true);
  const double paused = newest(states, 0.5, last).time();
  check(newest(states, 0.5, last).time() == paused, "it is not paused");
  call(requests, replies, false);
  last = hold(states, commands, 1, command, last.time());
  std::printf("paused and went on; %.2f s\n", last.time());
  std::puts("Done!");
}
