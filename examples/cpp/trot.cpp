// A controller in C++ that walks: it trots forwards with the quadruped of config/quadruped.toml,
// by what a real robot measures. Diagonal legs move together. Feet that carry move backwards under
// the trunk, the others swing to where they stop a wrong velocity; the drives do the rest.
//
//   hardstand run config/quadruped.toml                 # one terminal; or with --mode lockstep
//   cmake -B build examples/cpp && cmake --build build
//   build/trot                                          # another: [ENDPOINT [SECONDS [VX_M_PER_S]]]
//
// It ends with 0 if the robot has walked and not fallen, else with 1. examples/trot.py and
// crates/trot have a controller that also takes slopes and pushes.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "hardstand.hpp"

using Vec3 = std::array<double, 3>;

// The robot: config/robots/quadruped.urdf. Legs FL, FR, RL, RR; joints hip, thigh, calf.
constexpr double HIP_X_M[] = {0.19, 0.19, -0.19, -0.19}, HIP_Y_M = 0.05, THIGH_Y_M = 0.095;
constexpr double SIDE[] = {1.0, -1.0, 1.0, -1.0};
constexpr double LINK_M = 0.213, WEIGHT_N = 14.56 * 9.81, CENTRE_X_M = -0.011;
// The gait.
constexpr double PERIOD_S = 0.4, DUTY = 0.55, PHASE[] = {0.0, 0.5, 0.5, 0.0};
constexpr double STANCE_S = DUTY * PERIOD_S, SWING_S = PERIOD_S - STANCE_S;
constexpr double HEIGHT_M = 0.29, CLEARANCE_M = 0.06, STAND_S = 0.5;
constexpr double PLACEMENT_S = 0.05;  // how far a foot steps out per error of velocity
constexpr double KP = 120.0, KD = 3.0;  // N·m/rad, N·m·s/rad

// Centre of a foot from the base, and the columns of its Jacobian, in axes of the trunk.
struct Leg {
  Vec3 foot;
  std::array<Vec3, 3> columns;

  Leg(int leg, const double* q) {
    const double s = std::sin(q[0]), c = std::cos(q[0]), side = SIDE[leg] * THIGH_Y_M;
    const double thigh_x = -LINK_M * std::sin(q[1]), thigh_z = -LINK_M * std::cos(q[1]);
    const double calf_x = -LINK_M * std::sin(q[1] + q[2]);
    const double calf_z = -LINK_M * std::cos(q[1] + q[2]);
    const double x = thigh_x + calf_x, z = thigh_z + calf_z;
    foot = {HIP_X_M[leg] + x, SIDE[leg] * HIP_Y_M + side * c - z * s, side * s + z * c};
    columns = {Vec3{0.0, -side * s - z * c, side * c - z * s}, Vec3{z, x * s, -x * c},
               Vec3{calf_z, calf_x * s, -calf_x * c}};
  }

  Vec3 velocity(const double* dq) const {
    Vec3 v{};
    for (int joint = 0; joint < 3; ++joint) {
      for (int i = 0; i < 3; ++i) v[i] += columns[joint][i] * dq[joint];
    }
    return v;
  }
};

// Joint positions for this centre of the foot; the knee points backwards.
Vec3 inverse_kinematics(int leg, const Vec3& foot) {
  const double x = foot[0] - HIP_X_M[leg], y = foot[1] - SIDE[leg] * HIP_Y_M, z = foot[2];
  const double side = SIDE[leg] * THIGH_Y_M;
  const double below = std::sqrt(std::max(y * y + z * z - side * side, 1e-4));
  const double hip = std::atan2(z, y) - std::atan2(-below, side);
  const double length = std::clamp(std::hypot(x, below), 0.12, 0.42);
  const double calf = -2.0 * std::acos(length / (2.0 * LINK_M));
  return {hip, std::atan2(-x, below) - calf / 2.0, calf};
}

class Trot {
 public:
  explicit Trot(double vx) : vx_(vx) {
    for (int leg = 0; leg < 4; ++leg) lift_[leg] = target_[leg] = neutral(leg);
  }

  void step(const hardstand::State& state, double t_s, double dt_s,
            std::vector<hardstand::JointCommand>& commands) {
    const bool trots = t_s >= STAND_S;
    const double speed = trots ? vx_ * std::min((t_s - STAND_S) / 1.0, 1.0) : 0.0;
    const double* gyro = state->imu_angular_velocity_rad_per_s;
    Vec3 legs_velocity{};
    int carrying = 0;
    bool carries[4];
    for (int leg = 0; leg < 4; ++leg) {
      carries[leg] = !trots || phase(leg, t_s) < DUTY;
      carrying += carries[leg];
      if (!carries[leg]) continue;
      // a foot on the ground stands still, so the base moves against it
      const Leg at(leg, &state.q()[3 * leg]);
      const Vec3 v = at.velocity(&state.dq()[3 * leg]);
      legs_velocity[0] -= v[0] + gyro[1] * at.foot[2] - gyro[2] * at.foot[1];
      legs_velocity[1] -= v[1] + gyro[2] * at.foot[0] - gyro[0] * at.foot[2];
    }
    for (int i = 0; i < 2; ++i) {
      velocity_[i] += 30.0 * dt_s * (legs_velocity[i] / carrying - velocity_[i]);
    }
    for (int leg = 0; leg < 4; ++leg) {
      move(leg, carries[leg], (phase(leg, t_s) - DUTY) / (1.0 - DUTY), speed, dt_s);
      const Leg at(leg, &state.q()[3 * leg]);
      const Vec3 q = inverse_kinematics(leg, target_[leg]);
      for (int joint = 0; joint < 3; ++joint) {
        // a foot that carries presses its share of the weight down
        const double load = carries[leg] ? -WEIGHT_N / carrying * at.columns[joint][2] : 0.0;
        commands[3 * leg + joint] = {q[joint], 0.0, KP, KD, load};
      }
    }
  }

 private:
  static Vec3 neutral(int leg) {
    return {HIP_X_M[leg] + CENTRE_X_M, SIDE[leg] * (HIP_Y_M + THIGH_Y_M), -HEIGHT_M};
  }

  static double phase(int leg, double t_s) {
    return std::fmod((t_s - STAND_S) / PERIOD_S + PHASE[leg], 1.0);
  }

  // Moves the target of a foot, in axes of the trunk.
  void move(int leg, bool carries, double done, double speed, double dt_s) {
    Vec3& target = target_[leg];
    const Vec3 home = neutral(leg);
    if (carries) {
      target[0] -= speed * dt_s;
      target[2] = home[2];
      lift_[leg] = target;
      return;
    }
    // half a stance ahead (Raibert), and out in the direction of an error of velocity
    const double x = home[0] + speed * STANCE_S / 2.0 + PLACEMENT_S * (velocity_[0] - speed);
    const double y = home[1] + PLACEMENT_S * velocity_[1];
    const double share = done * done * (3.0 - 2.0 * done);
    target[0] = lift_[leg][0] + (x - lift_[leg][0]) * share;
    target[1] = lift_[leg][1] + (y - lift_[leg][1]) * share;
    target[2] = home[2] + CLEARANCE_M * 16.0 * done * done * (1.0 - done) * (1.0 - done);
  }

  double vx_;
  Vec3 velocity_{};
  std::array<Vec3, 4> lift_, target_;
};

int main(int argc, char** argv) {
  const double seconds = argc > 2 ? std::strtod(argv[2], nullptr) : 8.0;
  try {
    hardstand::Client client({argc > 1 ? argv[1] : ""});
    auto commands = client.model().hold();
    Trot trot(argc > 3 ? std::strtod(argv[3], nullptr) : 0.3);
    auto controller = client.join("legs");
    double start_s = -1.0, last_s = 0.0, start_x_m = 0.0, lowest_m = 1.0;
    for (const auto& state : controller.states()) {
      if (start_s < 0.0) {
        start_s = last_s = state.time_s();
        start_x_m = state->truth_base_position_m[0];
      }
      trot.step(state, state.time_s() - start_s, state.time_s() - last_s, commands);
      controller.answer(commands);
      last_s = state.time_s();
      lowest_m = std::min(lowest_m, state->truth_base_position_m[2]);
      if (last_s - start_s < seconds) continue;
      // what only a simulator knows is for the report
      const double walked_m = state->truth_base_position_m[0] - start_x_m;
      std::printf("walked %.3f m in %.1f s, base at least %.3f m high, digest %016llx\n", walked_m,
                  seconds, lowest_m, static_cast<unsigned long long>(state->digest));
      return walked_m > 1.0 && lowest_m > 0.2 ? 0 : 1;
    }
  } catch (const hardstand::Error& e) {
    std::fprintf(stderr, "trot: %s\n", e.what());
    return e.code();
  }
}
