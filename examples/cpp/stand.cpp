// A controller in C++: it answers every state and holds the initial joint positions.
//
//   hardstand run config/quadruped.toml                 # one terminal; or with --mode lockstep
//   cmake -B build examples/cpp && cmake --build build
//   build/stand                                         # another: [ENDPOINT [TICKS]]

#include <cstdio>
#include <cstdlib>

#include "hardstand.hpp"

int main(int argc, char** argv) {
  const std::string endpoint = argc > 1 ? argv[1] : "";
  const std::uint64_t ticks = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : UINT64_MAX;
  try {
    hardstand::Client client({endpoint});
    const auto model = client.model();  // waits for the daemon
    const auto commands = model.hold();

    // in lockstep every state; in real time the newest. It joins again after a loss or a reset
    auto controller = client.join("legs");
    for (const auto& state : controller.states()) {
      // your control law goes here: state.q(), state->imu_quat_wxyz, state.foot_contact() …
      // → commands. The drives make tau_ff + kp (q - q_measured) + kd (dq - dq_measured)
      controller.answer(commands);
      if (state.tick() >= ticks) {
        std::printf("tick %llu, base at %.4f m, digest %016llx\n",
                    static_cast<unsigned long long>(state.tick()),
                    state->truth_base_position_m[2],
                    static_cast<unsigned long long>(state->digest));
        break;  // the controller leaves the run
      }
    }
  } catch (const hardstand::Error& e) {
    std::fprintf(stderr, "stand: %s\n", e.what());
    return e.code();
  }
}
