// Is late on purpose: loses its joints in real time, and joins again.

#include <cstdio>
#include <thread>

#include "hardstand.hpp"

using namespace std::chrono_literals;

int main(int, char** argv) try {
  hardstand::Client client({argv[1]});
  const auto hold = client.model().hold();
  auto events = client.events();
  auto controller = client.join("legs");
  bool was_late = false;
  int obeyed = 0;
  for (const auto& state : controller.states(20s)) {
    if (state.tick() >= 300 && !was_late) {
      std::this_thread::sleep_for(1s);
      was_late = true;
    }
    controller.answer(hold);
    const auto joined = controller.joined();
    const bool obeys = state->authority == HARDSTAND_AUTHORITY_FRESH;
    obeyed += joined.losses > 0 && obeys;
    if (obeyed == 100) break;
  }
  const auto joined = controller.joined();
  if (joined.losses == 0 || joined.skipped == 0 || joined.first_tick < 300) return 2;
  controller.leave();
  std::string kinds;
  while (const auto event = events.next(2s)) {
    if (event->controller == "legs") kinds += event->kind + " ";
  }
  // once on purpose; a machine that is busy may make it late again
  std::string expected = "join ";
  for (std::uint64_t i = 0; i < joined.losses; ++i) expected += "lost join ";
  if (kinds != expected + "leave ") {
    std::printf("%s, losses %d\n", kinds.c_str(), static_cast<int>(joined.losses));
    return 3;
  }
  return 0;
} catch (const hardstand::Error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return e.code();
}
