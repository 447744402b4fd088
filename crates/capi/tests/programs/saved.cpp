// Faults on demand, and a saved state: taken, written as bytes, read again, restored.

#include <cstdio>
#include <thread>

#include "hardstand.hpp"

using namespace std::chrono_literals;

#define CHECK(claim)                                            \
  if (!(claim)) {                                               \
    std::printf("line %d: %s\n", __LINE__, #claim);             \
    return 1;                                                   \
  }

template <class Call>
int code(Call call) {
  try {
    call();
  } catch (const hardstand::Error& e) {
    return e.code();
  }
  return HARDSTAND_OK;
}

int main(int, char** argv) try {
  hardstand::Client client(hardstand::Connection{argv[1]});
  const auto model = client.model();
  auto controller = client.control();  // without joining
  const auto hold = model.hold();
  const auto run = [&](int states) {
    for (int i = 0; i < states; ++i) {
      if (!controller.next()) return false;
      controller.answer(hold);
    }
    return true;
  };
  CHECK(run(200));

  CHECK(client.fault("motor_derated", {0.5}, "joint", "FL_calf_joint") > 0);
  CHECK(client.fault("imu_gyro_bias", {0.0, 0.1, 0.0}, "", "", 100) > 0);
  CHECK(code([&] { client.fault("motor_derated", {1.5}, "joint", "FL_calf_joint"); }) ==
        HARDSTAND_REFUSED);
  CHECK(code([&] { client.fault("rust", {}); }) == HARDSTAND_REFUSED);
  CHECK(code([&] { client.fault("motor_dead", {}, "joint", "tail"); }) == HARDSTAND_REFUSED);
  CHECK(client.clear_faults("motor_derated") > 0);
  CHECK(client.clear_faults() > 0);
  CHECK(code([&] { client.clear_faults("rust"); }) == HARDSTAND_REFUSED);

  const auto paused = client.pause();
  const auto saved = client.snapshot();
  CHECK(saved.tick() == paused && saved.bytes().size() > 1000);
  const std::vector<std::uint8_t> file(saved.bytes().begin(), saved.bytes().end());
  client.resume();
  CHECK(run(50));

  const hardstand::Saved read{hardstand::View<std::uint8_t>(file)};
  CHECK(read.tick() == paused);
  CHECK(client.restore(read) == paused);
  CHECK(client.model()->run_id == model->run_id + 1);
  auto spoilt = file;
  spoilt[spoilt.size() / 2] ^= 1;
  CHECK(code([&] { hardstand::Saved{hardstand::View<std::uint8_t>(spoilt)}; }) ==
        HARDSTAND_REFUSED);
  spoilt.resize(10);
  CHECK(code([&] { hardstand::Saved{hardstand::View<std::uint8_t>(spoilt)}; }) ==
        HARDSTAND_REFUSED);
  CHECK(hardstand_restore(nullptr, nullptr, 0, nullptr) == HARDSTAND_REFUSED);
  std::printf("ok\n");
  return 0;
} catch (const hardstand::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return e.code();
}
