// With credentials: [ENDPOINT USER PASSWORD_FILE]. Orders, and joins and answers ten states. Prints
// the code of each.

#include <cstdio>

#include "hardstand.hpp"

using namespace std::chrono_literals;

template <class Call>
int code(Call call) {
  try {
    call();
  } catch (const hardstand::Error& e) {
    return e.code();
  }
  return HARDSTAND_OK;
}

int main(int argc, char** argv) {
  if (argc < 4) return 1;
  hardstand::Connection connection{argv[1]};
  connection.user = argv[2];
  connection.password_file = argv[3];
  std::printf("%d ", code([&] {
    hardstand::Client client(connection);
    const auto hold = client.model(3s).hold();
    const auto order = code([&] { client.speed(1.0, 3s); });
    const auto control = code([&] {
      auto controller = client.join("legs", 3s);
      for (int i = 0; i < 10; ++i) {
        if (!controller.next(5s)) throw hardstand::Error(HARDSTAND_NONE, "no state");
        controller.answer(hold);
      }
    });
    std::printf("%d %d ", order, control);
  }));
  return 0;
}
