// The client of a Hardstand daemon for C++17: hardstand.h with classes, chrono and exceptions.
// docs/c-and-cpp.md describes it. Whether a function blocks, and from which thread it may be
// called, is in hardstand.h beside the function of the same name.
//
//   hardstand::Client client;
//   const auto hold = client.model().hold();
//   auto controller = client.join("legs");
//   for (const auto& state : controller.states()) controller.answer(hold);

#ifndef HARDSTAND_HPP
#define HARDSTAND_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hardstand.h"

namespace hardstand {

using Nanoseconds = std::chrono::nanoseconds;
using JointCommand = HardstandJointCommand;
using Joint = HardstandJoint;
using Status = HardstandStatus;

// Longest wait for an answer or a state, where none is given.
constexpr Nanoseconds PATIENCE = std::chrono::seconds(5);

// What was refused or failed. The program may exit with `code`, as `hardstand` does.
class Error : public std::runtime_error {
 public:
  Error(std::int32_t code, const std::string& message)
      : std::runtime_error(message), code_(code) {}

  // HARDSTAND_REFUSED, HARDSTAND_BUS, …
  std::int32_t code() const noexcept { return code_; }

 private:
  std::int32_t code_;
};

// An array that something else owns: a span for C++17.
template <class T>
class View {
 public:
  View() = default;
  View(const T* data, std::size_t size) : data_(data), size_(size) {}
  // of a vector, a std::array, an Eigen vector, …
  template <class Array, class = decltype(std::data(std::declval<const Array&>()))>
  View(const Array& array) : data_(std::data(array)), size_(std::size(array)) {}

  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  // With a check of the index: throws std::out_of_range.
  const T& at(std::size_t i) const {
    if (i >= size_) throw std::out_of_range("index " + std::to_string(i) + " of " +
                                            std::to_string(size_));
    return data_[i];
  }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

inline std::int32_t check(std::int32_t result) {
  if (result != HARDSTAND_OK && result != HARDSTAND_NONE) {
    throw Error(result, hardstand_last_error());
  }
  return result;
}

inline std::uint64_t nanoseconds(Nanoseconds patience) {
  return patience.count() > 0 ? static_cast<std::uint64_t>(patience.count()) : 0;
}

inline const char* text(const std::string& text) { return text.empty() ? nullptr : text.c_str(); }

template <auto free>
struct Freed {
  template <class T>
  void operator()(T* handle) const noexcept {
    free(handle);
  }
};

template <class T, auto free>
using Handle = std::unique_ptr<T, Freed<free>>;

}  // namespace detail

// Where the daemon is, and who asks. Empty texts are the defaults: see HardstandConnection.
struct Connection {
  std::string endpoint = {}, robot = {}, asker = {};
  std::string user = {}, password_file = {};
  std::string tls_certificate = {}, tls_key = {}, tls_ca = {};
};

// What a controller asks for: see HardstandJoin.
struct Join {
  std::string name;
  std::vector<std::string> joints = {};  // empty: all
  std::uint64_t period_ticks = 1, phase_ticks = 0, offset_ticks = 0;
  std::uint32_t role = HARDSTAND_ROLE_REQUIRED;
  std::uint64_t physics_hash = 0, session = 0;

  Join(const char* its_name) : name(its_name) {}
  Join(std::string its_name) : name(std::move(its_name)) {}
};

// Description of robot and run. Threads may share it.
class Model {
 public:
  explicit Model(const HardstandModel* model) : model_(model) {}

  View<Joint> joints() const { return {model_->joints, model_->joint_count}; }
  View<const char*> feet() const { return {model_->feet, model_->foot_count}; }
  View<const char*> stations() const { return {model_->stations, model_->station_count}; }
  View<const char*> regions() const { return {model_->regions, model_->region_count}; }
  // Length of a tick.
  Nanoseconds period() const { return Nanoseconds(model_->period_ns); }
  // The rest: mass_kg, kp_max, …
  const HardstandModel* operator->() const noexcept { return model_.get(); }

  // Place of a joint in states and in commands for all joints.
  std::size_t joint(std::string_view name) const {
    for (std::size_t i = 0; i < joints().size(); ++i) {
      if (name == joints()[i].name) return i;
    }
    throw Error(HARDSTAND_REFUSED, "joint \"" + std::string(name) + "\" is unknown");
  }

  // Commands that hold the initial positions, with the gains that the scenario suggests.
  std::vector<JointCommand> hold() const {
    std::vector<JointCommand> commands;
    for (const Joint& joint : joints()) {
      commands.push_back({joint.q_initial, 0.0, joint.hold_kp, joint.hold_kd, 0.0});
    }
    return commands;
  }

 private:
  detail::Handle<const HardstandModel, hardstand_model_free> model_;
};

// A state. Its arrays hold until the next call with its controller; copy what shall live longer.
class State {
 public:
  explicit State(const HardstandState& state) : state_(state) {}

  std::uint64_t tick() const noexcept { return state_.tick; }
  Nanoseconds time() const noexcept { return Nanoseconds(state_.time_ns); }
  double time_s() const noexcept { return 1e-9 * static_cast<double>(state_.time_ns); }
  View<double> q() const { return {state_.q, state_.joint_count}; }
  View<double> dq() const { return {state_.dq, state_.joint_count}; }
  View<double> tau() const { return {state_.tau, state_.joint_count}; }
  View<std::uint8_t> foot_contact() const { return {state_.foot_contact, state_.foot_count}; }
  View<double> foot_normal_n() const { return {state_.foot_normal_n, state_.foot_count}; }
  bool is_real_time() const noexcept { return state_.mode == HARDSTAND_MODE_REAL_TIME; }
  // The rest: imu_quat_wxyz, truth_base_position_m, digest, authority, …
  const HardstandState* operator->() const noexcept { return &state_; }

 private:
  HardstandState state_;
};

// A controller; it can be moved, and has one user at a time. Its end leaves the run.
class Controller {
 public:
  explicit Controller(HardstandController* controller) : controller_(controller) {}

  // The next state to answer; none if none came within the patience. Throws if the connection is
  // closed.
  std::optional<State> next(Nanoseconds patience = PATIENCE) {
    HardstandState state;
    const auto waited = detail::nanoseconds(patience);
    const auto result = hardstand_next_state(controller_.get(), waited, &state);
    if (detail::check(result) == HARDSTAND_NONE) return std::nullopt;
    return State(state);
  }

  // Answers the last state, with a command for each joint of this controller.
  void answer(View<JointCommand> commands) {
    detail::check(hardstand_answer(controller_.get(), commands.data(), commands.size()));
  }

  // Joins, run and losses: see HardstandJoined.
  HardstandJoined joined() const {
    HardstandJoined joined;
    detail::check(hardstand_joined(controller_.get(), &joined));
    return joined;
  }

  void join_again() { detail::check(hardstand_join_again(controller_.get())); }

  void leave(Nanoseconds patience = PATIENCE) {
    detail::check(hardstand_leave(controller_.get(), detail::nanoseconds(patience)));
  }

  class States;
  // The states to answer, without end: `for (const auto& state : controller.states())`. Throws if
  // none comes within the patience.
  States states(Nanoseconds patience = PATIENCE);

 private:
  struct Leave {
    void operator()(HardstandController* controller) const noexcept {
      hardstand_leave(controller, 1'000'000'000);
      hardstand_controller_free(controller);
    }
  };
  std::unique_ptr<HardstandController, Leave> controller_;
};

// A range of states.
class Controller::States {
 public:
  States(Controller& controller, Nanoseconds patience)
      : controller_(&controller), patience_(patience) {}

  struct End {};

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = State;
    using difference_type = std::ptrdiff_t;
    using pointer = const State*;
    using reference = const State&;

    explicit Iterator(const States& states) : states_(&states) { ++*this; }
    reference operator*() const { return *state_; }
    pointer operator->() const { return &*state_; }
    bool operator!=(End) const noexcept { return true; }
    Iterator& operator++() {
      state_ = states_->controller_->next(states_->patience_);
      if (!state_) {
        throw Error(HARDSTAND_NONE, "no state in time; the daemon is connected: it is paused, or "
                                    "waits for another controller");
      }
      return *this;
    }

   private:
    const States* states_;
    std::optional<State> state_;
  };

  Iterator begin() const { return Iterator(*this); }
  End end() const noexcept { return {}; }

 private:
  Controller* controller_;
  Nanoseconds patience_;
};

inline Controller::States Controller::states(Nanoseconds patience) { return {*this, patience}; }

// An event, with texts of its own.
struct Event {
  std::uint64_t tick;
  Nanoseconds time;
  std::uint32_t run_id;
  std::string kind, controller, asker, text;
};

// Events since it was opened; it can be moved, and has one user at a time.
class Events {
 public:
  explicit Events(HardstandEvents* events) : events_(events) {}

  // The next event; none if none came within the patience.
  std::optional<Event> next(Nanoseconds patience = PATIENCE) {
    HardstandEvent e;
    const auto waited = detail::nanoseconds(patience);
    const auto result = hardstand_events_next(events_.get(), waited, &e);
    if (detail::check(result) == HARDSTAND_NONE) return std::nullopt;
    return Event{e.tick, Nanoseconds(e.time_ns), e.run_id, e.kind, e.controller, e.asker, e.text};
  }

 private:
  detail::Handle<HardstandEvents, hardstand_events_free> events_;
};

// The complete state of a run.
class Saved {
 public:
  // From the bytes of a file.
  explicit Saved(View<std::uint8_t> bytes) {
    HardstandSaved* saved = nullptr;
    detail::check(hardstand_saved_read(bytes.data(), bytes.size(), &saved));
    saved_.reset(saved);
  }

  std::uint64_t tick() const { return hardstand_saved_tick(saved_.get()); }
  // For a file. They hold as long as this.
  View<std::uint8_t> bytes() const {
    std::size_t n = 0;
    const std::uint8_t* bytes = hardstand_saved_bytes(saved_.get(), &n);
    return View<std::uint8_t>(bytes, n);
  }

 private:
  friend class Client;
  explicit Saved(HardstandSaved* saved) : saved_(saved) {}

  detail::Handle<HardstandSaved, hardstand_saved_free> saved_;
};

// A connection for questions and orders; threads may share it. Each order returns the first tick
// to which it applies, and a step the tick of its pause.
class Client {
 public:
  Client() : Client(Connection{}) {}

  explicit Client(const Connection& c) {
    detail::check(hardstand_check());
    const HardstandConnection connection = {
        detail::text(c.endpoint), detail::text(c.robot),           detail::text(c.asker),
        detail::text(c.user),     detail::text(c.password_file),   detail::text(c.tls_certificate),
        detail::text(c.tls_key),  detail::text(c.tls_ca)};
    HardstandClient* client = nullptr;
    detail::check(hardstand_connect(&connection, &client));
    client_.reset(client);
  }

  // Waits for the daemon.
  Model model(Nanoseconds patience = std::chrono::seconds(30)) const {
    const HardstandModel* model = nullptr;
    detail::check(hardstand_model(client_.get(), detail::nanoseconds(patience), &model));
    return Model(model);
  }

  Status status(Nanoseconds patience = PATIENCE) const {
    Status status;
    detail::check(hardstand_status(client_.get(), detail::nanoseconds(patience), &status));
    return status;
  }

  Controller join(const Join& j, Nanoseconds patience = PATIENCE) const {
    std::vector<const char*> names;
    for (const std::string& joint : j.joints) names.push_back(joint.c_str());
    HardstandJoin join = {};
    join.name = j.name.c_str();
    join.joints = names.empty() ? nullptr : names.data();
    join.joint_count = static_cast<std::uint32_t>(names.size());
    join.role = j.role;
    join.period_ticks = j.period_ticks;
    join.phase_ticks = j.phase_ticks;
    join.offset_ticks = j.offset_ticks;
    join.physics_hash = j.physics_hash;
    join.session = j.session;
    HardstandController* controller = nullptr;
    const auto waited = detail::nanoseconds(patience);
    detail::check(hardstand_join(client_.get(), &join, waited, &controller));
    return Controller(controller);
  }

  Controller control(Nanoseconds patience = PATIENCE) const {
    HardstandController* controller = nullptr;
    detail::check(hardstand_control(client_.get(), detail::nanoseconds(patience), &controller));
    return Controller(controller);
  }

  Events events(Nanoseconds patience = PATIENCE) const {
    HardstandEvents* events = nullptr;
    detail::check(hardstand_events_open(client_.get(), detail::nanoseconds(patience), &events));
    return Events(events);
  }

  bool is_connected() const { return hardstand_is_connected(client_.get()) == 1; }

  std::uint64_t pause(Nanoseconds patience = PATIENCE) const {
    return order(hardstand_pause, patience);
  }
  std::uint64_t resume(Nanoseconds patience = PATIENCE) const {
    return order(hardstand_resume, patience);
  }
  std::uint64_t step(std::uint64_t ticks, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_step, patience, ticks);
  }
  std::uint64_t run_until(std::uint64_t tick, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_run_until, patience, tick);
  }
  // Emergency stop, until `arm`.
  std::uint64_t stop(Nanoseconds patience = PATIENCE) const {
    return order(hardstand_stop, patience);
  }
  std::uint64_t arm(Nanoseconds patience = PATIENCE) const {
    return order(hardstand_arm, patience);
  }
  std::uint64_t reset(bool rewind = false, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_reset, patience, static_cast<std::uint8_t>(rewind));
  }
  std::uint64_t speed(double speed, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_speed, patience, speed);
  }
  // Asks controllers that walk for a velocity: m/s ahead and to the left, rad/s to the left.
  std::uint64_t velocity(double vx, double vy, double yaw_rate,
                         Nanoseconds patience = PATIENCE) const {
    return order(hardstand_velocity, patience, vx, vy, yaw_rate);
  }
  // Pushes a link with a force in world axes at its origin.
  std::uint64_t push(const std::string& link, double x_n, double y_n, double z_n,
                     std::uint64_t ticks, Nanoseconds patience = PATIENCE) const {
    const HardstandPush push = {link.c_str(), {0.0, 0.0, 0.0}, {x_n, y_n, z_n}, ticks};
    return order(hardstand_push, patience, &push);
  }
  std::uint64_t friction(std::uint32_t scope, std::uint32_t index, double mu_static,
                         double mu_kinetic, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_friction, patience, scope, index, mu_static, mu_kinetic);
  }

  // Injects a fault of a kind of docs/faults.md. `part` and `name` can be empty: all there is.
  std::uint64_t fault(const std::string& kind, const std::vector<double>& values,
                      const std::string& part = "", const std::string& name = "",
                      std::uint64_t ticks = 0, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_fault, patience, kind.c_str(), part.c_str(), name.c_str(),
                 values.data(), values.size(), ticks);
  }
  std::uint64_t clear_faults(const std::string& kind = "", Nanoseconds patience = PATIENCE) const {
    return order(hardstand_clear_faults, patience, kind.c_str(), nullptr, nullptr);
  }
  Saved snapshot(Nanoseconds patience = PATIENCE) const {
    HardstandSaved* saved = nullptr;
    detail::check(hardstand_snapshot(client_.get(), detail::nanoseconds(patience), &saved));
    return Saved(saved);
  }
  // Continues from a saved state, as the next run.
  std::uint64_t restore(const Saved& saved, Nanoseconds patience = PATIENCE) const {
    return order(hardstand_restore, patience, saved.saved_.get());
  }

 private:
  template <class Order, class... Arguments>
  std::uint64_t order(Order give, Nanoseconds patience, Arguments... arguments) const {
    std::uint64_t tick = 0;
    detail::check(give(client_.get(), arguments..., detail::nanoseconds(patience), &tick));
    return tick;
  }

  detail::Handle<HardstandClient, hardstand_client_free> client_;
};

}  // namespace hardstand

#endif  // HARDSTAND_HPP
