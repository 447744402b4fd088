// A controller manager for the plugin of ros2_control: it loads, configures and activates it, lets a
// controller claim interfaces, and reads and writes until a tick: ENDPOINT TICKS WHAT. The end is the
// digest of that tick, read by another connection.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

#include <hardware_interface/system_interface.hpp>

#include "hardstand.hpp"

hardware_interface::SystemInterface* hardstand_stub_make();

namespace {

using hardware_interface::CallbackReturn;
using hardware_interface::return_type;

#define REQUIRE(condition)                                    \
  do {                                                        \
    if (!(condition)) {                                       \
      std::printf("not true: %s (%d)\n", #condition, __LINE__); \
      std::exit(1);                                           \
    }                                                         \
  } while (false)

const char* const IMU[] = {"orientation.x", "orientation.y", "orientation.z", "orientation.w",
                           "angular_velocity.x", "angular_velocity.y", "angular_velocity.z",
                           "linear_acceleration.x", "linear_acceleration.y",
                           "linear_acceleration.z"};

hardware_interface::HardwareInfo description(const std::string& endpoint,
                                             const hardstand::Model& model) {
  hardware_interface::HardwareInfo info;
  info.hardware_parameters = {{"endpoint", endpoint}, {"controller", "legs"}, {"patience_s", "60"}};
  // in another order than the model's
  for (std::size_t i = model.joints().size(); i-- > 0;) {
    hardware_interface::ComponentInfo joint;
    joint.name = model.joints()[i].name;
    joint.command_interfaces = {{"position"}, {"velocity"}, {"effort"}, {"proportional"},
                                {"derivative"}};
    joint.state_interfaces = {{"position"}, {"velocity"}, {"effort"}};
    info.joints.push_back(joint);
  }
  hardware_interface::ComponentInfo imu;
  imu.name = "imu";
  for (const char* name : IMU) imu.state_interfaces.push_back({name});
  info.sensors.push_back(imu);
  return info;
}

void refuses_what_it_does_not_have(const hardware_interface::HardwareInfo& good) {
  const auto refused = [](const hardware_interface::HardwareInfo& info) {
    std::unique_ptr<hardware_interface::SystemInterface> plugin(hardstand_stub_make());
    return plugin->on_init(info) == CallbackReturn::ERROR;
  };
  auto info = good;
  info.joints[2].command_interfaces.push_back({"acceleration"});
  REQUIRE(refused(info));
  info = good;
  info.joints[2].state_interfaces.push_back({"temperature"});
  REQUIRE(refused(info));
  info = good;
  info.sensors.push_back(info.sensors[0]);
  REQUIRE(refused(info));
  info = good;
  info.hardware_parameters["period_ticks"] = "two";
  REQUIRE(refused(info));
  info = good;
  info.joints[0].name = "tail";
  std::unique_ptr<hardware_interface::SystemInterface> plugin(hardstand_stub_make());
  REQUIRE(plugin->on_init(info) == CallbackReturn::SUCCESS);
  REQUIRE(plugin->on_configure({}) == CallbackReturn::ERROR);
}

}  // namespace

int main(int argc, char** argv) {
  REQUIRE(argc == 4);
  const std::string endpoint = argv[1], what = argv[3];
  const std::uint64_t ticks = std::strtoull(argv[2], nullptr, 10);
  hardstand::Client client({endpoint});
  const auto model = client.model();
  auto watcher = client.control();
  const auto info = description(endpoint, model);
  refuses_what_it_does_not_have(info);

  std::unique_ptr<hardware_interface::SystemInterface> plugin(hardstand_stub_make());
  REQUIRE(plugin->on_init(info) == CallbackReturn::SUCCESS);
  REQUIRE(plugin->on_configure({}) == CallbackReturn::SUCCESS);
  auto states = plugin->export_state_interfaces();
  auto commands = plugin->export_command_interfaces();
  REQUIRE(states.size() == 3 * model.joints().size() + 10);
  REQUIRE(commands.size() == 5 * model.joints().size());
  std::map<std::string, hardware_interface::StateInterface*> state;
  for (auto& s : states) state[s.get_name()] = &s;
  std::map<std::string, hardware_interface::CommandInterface*> command;
  for (auto& c : commands) command[c.get_name()] = &c;
  REQUIRE(plugin->on_activate({}) == CallbackReturn::SUCCESS);

  // "held": no controller; "gains": everything claimed; "effort": efforts alone, so it falls
  std::vector<std::string> claimed;
  for (const auto& [name, handle] : command) {
    const bool effort = name.find("/effort") != std::string::npos;
    if (what == "gains" || (what == "effort" && effort)) claimed.push_back(name);
  }
  REQUIRE(plugin->perform_command_mode_switch(claimed, {}) == return_type::OK);
  for (std::uint64_t tick = 0; tick <= ticks; ++tick) {
    REQUIRE(plugin->read({}, {}) == return_type::OK);
    if (what == "gains") {
      for (const auto& joint : model.joints()) {
        const std::string name = joint.name;
        command[name + "/position"]->set_value(joint.q_initial);
        command[name + "/velocity"]->set_value(0.0);
        command[name + "/effort"]->set_value(0.0);
        command[name + "/proportional"]->set_value(joint.hold_kp);
        command[name + "/derivative"]->set_value(joint.hold_kd);
      }
    }
    if (tick < ticks) REQUIRE(plugin->write({}, {}) == return_type::OK);
  }
  // the run waits for the answer to the state of `ticks`
  auto last = watcher.next();
  while (last && last->tick() < ticks) last = watcher.next();
  REQUIRE(last && last->tick() == ticks);
  for (const auto& joint : model.joints()) {
    const std::size_t i = model.joint(joint.name);
    REQUIRE(state[std::string(joint.name) + "/position"]->get_value() == last->q()[i]);
    REQUIRE(state[std::string(joint.name) + "/velocity"]->get_value() == last->dq()[i]);
    REQUIRE(state[std::string(joint.name) + "/effort"]->get_value() == last->tau()[i]);
  }
  REQUIRE(state["imu/orientation.w"]->get_value() == (*last)->imu_quat_wxyz[0]);
  REQUIRE(state["imu/orientation.x"]->get_value() == (*last)->imu_quat_wxyz[1]);
  REQUIRE(state["imu/angular_velocity.y"]->get_value() ==
          (*last)->imu_angular_velocity_rad_per_s[1]);
  REQUIRE(state["imu/linear_acceleration.z"]->get_value() ==
          (*last)->imu_specific_force_m_per_s2[2]);
  std::printf("base at %.4f m, digest %016llx\n", (*last)->truth_base_position_m[2],
              static_cast<unsigned long long>((*last)->digest));
  REQUIRE(plugin->on_deactivate({}) == CallbackReturn::SUCCESS);
  REQUIRE(plugin->on_cleanup({}) == CallbackReturn::SUCCESS);
}
