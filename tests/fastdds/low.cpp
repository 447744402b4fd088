// A controller of a Go2 on Fast DDS alone: it reads rt/lowstate and holds the robot where it stands by rt/lowcmd, for
// two seconds. Types are written by hand from unitree_ros2's messages, the checksum from its motor_crc.cpp.
//
//     c++ -std=c++17 low.cpp -o low -lfastrtps -lfastcdr && ./low [DOMAIN]

#include <cmath>
#include <cstddef>
#include <cstring>

#include "peer.hpp"

constexpr size_t MOTORS = 20, MOVED = 12;

struct MotorCmd {
  uint8_t mode;
  float q, dq, tau, kp, kd;
  uint32_t reserve[3];

  void write(Cdr& cdr) const {
    cdr << mode << q << dq << tau << kp << kd;
    cdr.serializeArray(reserve, 3);
  }
};

// Laid out as Unitree's struct: the checksum is over its bytes.
struct LowCmd {
  uint8_t head[2], level_flag, frame_reserve;
  uint32_t sn[2], version[2];
  uint16_t bandwidth;
  MotorCmd motor[MOTORS];
  uint8_t bms[4], remote[40], led[12], fan[2], gpio;
  uint32_t reserve, crc;

  void write(Cdr& cdr) const {
    cdr.serializeArray(head, 2);
    cdr << level_flag << frame_reserve;
    cdr.serializeArray(sn, 2);
    cdr.serializeArray(version, 2);
    cdr << bandwidth;
    for (const MotorCmd& one : motor) one.write(cdr);
    cdr.serializeArray(bms, 4);
    cdr.serializeArray(remote, 40);
    cdr.serializeArray(led, 12);
    cdr.serializeArray(fan, 2);
    cdr << gpio << reserve << crc;
  }
  void read(Cdr&) {}
};
static_assert(sizeof(LowCmd) == 812 && offsetof(LowCmd, motor) == 24, "as Unitree's compiler lays it out");

// The part of a state that this program needs, and what lies between.
struct LowState {
  float quaternion[4], q[MOTORS];
  uint32_t tick = 0;

  void write(Cdr&) const {}
  void read(Cdr& cdr) {
    uint8_t bytes[4];
    uint32_t words[4];
    float numbers[9];
    int16_t forces[8];
    uint16_t halves[15];
    int32_t current;
    uint16_t half;
    cdr.deserializeArray(bytes, 4);
    cdr.deserializeArray(words, 4);
    cdr >> half;
    cdr.deserializeArray(quaternion, 4);
    cdr.deserializeArray(numbers, 9);
    cdr >> bytes[0];
    for (float& one : q) {
      cdr >> bytes[0] >> one;
      cdr.deserializeArray(numbers, 6);
      cdr >> bytes[0];
      cdr.deserializeArray(words, 3);
    }
    cdr.deserializeArray(bytes, 4);
    cdr >> current >> half;
    cdr.deserializeArray(bytes, 4);
    cdr.deserializeArray(halves, 15);
    cdr.deserializeArray(forces, 8);
    cdr >> tick;
  }
};

// CRC-32 of all words but the last, without reflection.
uint32_t checksum(const LowCmd& command) {
  uint32_t words[sizeof(LowCmd) / 4], crc = 0xffffffff;
  std::memcpy(words, &command, sizeof command);
  for (size_t i = 0; i + 1 < sizeof(LowCmd) / 4; ++i) {
    for (uint32_t bit = 0x80000000; bit; bit >>= 1) {
      const bool carry = crc & 0x80000000, is_set = words[i] & bit;
      crc = (crc << 1) ^ (carry ? 0x04c11db7 : 0) ^ (is_set ? 0x04c11db7 : 0);
    }
  }
  return crc;
}

int main(int argc, char** argv) {
  Peer peer(argc > 1 ? std::atoi(argv[1]) : 0);
  DataReader* states = peer.reader<LowState>("rt/lowstate", "unitree_go::msg::dds_::LowState_");
  DataWriter* commands = peer.writer<LowCmd>("rt/lowcmd", "unitree_go::msg::dds_::LowCmd_");
  LowState first;
  SampleInfo info;
  check(next(states, 20, first, info), "no state: the daemon was not found");
  check(std::fabs(first.quaternion[0]) > 0.99f, "the robot does not stand");
  wait_for_match(commands, "rt/lowcmd");

  LowCmd command;
  std::memset(&command, 0, sizeof command);
  command.head[0] = 0xfe, command.head[1] = 0xef, command.level_flag = 0xff;
  for (size_t i = 0; i < MOVED; ++i) {
    MotorCmd& motor = command.motor[i];
    motor.mode = 1, motor.q = first.q[i], motor.kp = 100, motor.kd = 3;
  }
  command.crc = checksum(command);
  LowState state;
  // its time begins with the first command that is obeyed
  const auto end = Clock::now() + std::chrono::seconds(60);
  do {
    check(Clock::now() < end, "rt/lowcmd is not obeyed");
    check(next(states, 10, state, info), "no further state");
    check(commands->write(&command), "a command could not be written");
  } while (state.tick < first.tick + 2000);
  float far = 0;
  for (size_t i = 0; i < MOVED; ++i) far = std::max(far, std::fabs(state.q[i] - first.q[i]));
  std::printf("held by rt/lowcmd until %u ms, at most %.3f rad away\n", state.tick, far);
  check(far < 0.3f, "the joints are not held");
  check(std::fabs(state.quaternion[0]) > 0.98f, "the robot has fallen");
  std::puts("Done!");
}
