// An operator: each order, and the events of them. Two threads share the client.

#include <cmath>
#include <cstdio>
#include <thread>

#include "hardstand.hpp"

using namespace std::chrono_literals;

#define CHECK(claim)                                            \
  if (!(claim)) {                                               \
    std::printf("line %d: %s\n", __LINE__, #claim);             \
    return 1;                                                   \
  }

// The code of the error of a call.
template <class Call>
int code(Call call) {
  try {
    call();
  } catch (const hardstand::Error& e) {
    return e.code();
  }
  return HARDSTAND_OK;
}

// The status, which may be a second old, with this tick or authority.
bool comes(const hardstand::Client& client, std::uint64_t tick, int authority) {
  for (int i = 0; i < 200; ++i) {
    const auto status = client.status();
    if (status.tick >= tick && (authority < 0 || status.authority == authority)) return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

int main(int, char** argv) try {
  hardstand::Connection connection{argv[1]};
  connection.asker = "operator-7";
  hardstand::Client client(connection);
  const auto model = client.model();
  CHECK(model.joints().size() == 12 && model.feet().size() == 4);
  CHECK(model.joint("FL_calf_joint") == 2 && model.period() == 1ms);
  CHECK(code([&] { model.joint("tail"); }) == HARDSTAND_REFUSED);
  CHECK(model->mass_kg > 14.0 && std::string(model->robot) == "quadruped");
  auto events = client.events();
  auto controller = client.control();  // without joining

  const auto hold = model.hold();
  for (int i = 0; i < 200; ++i) {
    if (!controller.next()) return 1;
    controller.answer(hold);
  }
  CHECK(client.is_connected() && comes(client, 1, -1));

  const auto paused = client.pause();
  CHECK(client.step(25) == paused + 25);
  CHECK(comes(client, paused + 25, -1));
  CHECK(client.status().tick == paused + 25);
  CHECK(client.status().phase == HARDSTAND_PHASE_PAUSED);
  CHECK(client.run_until(paused + 50) == paused + 50);
  CHECK(client.resume() >= paused + 25);

  const auto pushed = client.push("trunk", 0.0, 60.0, 0.0, 100);
  CHECK(pushed > paused);
  CHECK(code([&] { client.push("tail", 0.0, 1.0, 0.0, 1); }) == HARDSTAND_REFUSED);
  CHECK(client.friction(HARDSTAND_SCOPE_FOOT, 2, 0.3, 0.2) >= pushed);
  CHECK(code([&] { client.friction(HARDSTAND_SCOPE_FOOT, 99, 0.3, 0.2); }) == HARDSTAND_REFUSED);
  CHECK(code([&] { client.friction(7, 0, 0.3, 0.2); }) == HARDSTAND_REFUSED);
  CHECK(code([&] { client.speed(std::nan("")); }) == HARDSTAND_REFUSED);
  CHECK(code([&] { client.velocity(101.0, 0.0, 0.0); }) == HARDSTAND_REFUSED);
  CHECK(client.velocity(0.4, -0.1, 0.2) >= pushed);
  client.speed(0.5);
  std::thread other([&] { client.stop(); });  // at the same time as the next
  client.speed(1.0);
  other.join();
  CHECK(comes(client, 0, HARDSTAND_AUTHORITY_STOPPED));
  client.arm();
  client.reset();
  CHECK(client.model()->run_id == model->run_id + 1);

  std::string kinds;
  while (const auto event = events.next(1s)) {
    if (event->kind == "order") {
      CHECK(event->asker == "operator-7" && !event->text.empty());
    } else if (event->kind != "lost") {  // the controller above, at some time
      kinds += event->kind + " ";
    }
  }
  if (kinds != "push friction cmd_vel stop arm ") {
    std::printf("events: %s\n", kinds.c_str());
    return 1;
  }
  std::printf("ok\n");
  return 0;
} catch (const hardstand::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return e.code();
}
