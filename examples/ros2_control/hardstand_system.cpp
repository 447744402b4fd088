#include "hardstand_system.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include <pluginlib/class_list_macros.hpp>

namespace hardstand_ros2_control {

namespace {

using hardware_interface::return_type;

// Names of ros2_control (hardware_interface_type_values.hpp).
constexpr const char* STATES[] = {"position", "velocity", "effort"};
constexpr const char* COMMANDS[] = {"position", "velocity", "effort", "proportional", "derivative"};
constexpr std::size_t POSITION = 0, VELOCITY = 1, EFFORT = 2, PROPORTIONAL = 3, DERIVATIVE = 4;
// Those of semantic_components::IMUSensor.
constexpr const char* IMU[] = {
    "orientation.x",         "orientation.y",         "orientation.z",        "orientation.w",
    "angular_velocity.x",    "angular_velocity.y",    "angular_velocity.z",   "linear_acceleration.x",
    "linear_acceleration.y", "linear_acceleration.z",
};

// Place of a name in a list; its length if it is not there.
template <std::size_t N>
std::size_t place(const char* const (&names)[N], const std::string& name) {
  return static_cast<std::size_t>(std::find(names, names + N, name) - names);
}

}  // namespace

CallbackReturn HardstandSystem::failed(const char* what, const std::exception& e) const {
  std::fprintf(stderr, "hardstand: %s: %s\n", what, e.what());
  return CallbackReturn::ERROR;
}

std::string HardstandSystem::parameter(const std::string& name,
                                       const std::string& standard) const {
  const auto found = info_.hardware_parameters.find(name);
  return found == info_.hardware_parameters.end() ? standard : found->second;
}

double HardstandSystem::number(const std::string& name, const std::string& standard, double least,
                               double most) const {
  const std::string text = parameter(name, standard);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least && value <= most)) {
    throw std::runtime_error(name + " is \"" + text + "\"; it must be a number from " +
                             std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

// Parameters: `endpoint`, `robot` (defaults as in libhardstand), `controller` (its name, "ros2_control"),
// `period_ticks` (1: ticks between two states that it answers), `patience_s` (5: wait for a state).
CallbackReturn HardstandSystem::on_init(const hardware_interface::HardwareInfo& info) {
  if (SystemInterface::on_init(info) != CallbackReturn::SUCCESS) return CallbackReturn::ERROR;
  try {
    for (const auto& joint : info_.joints) {
      for (const auto& interface : joint.command_interfaces) {
        if (place(COMMANDS, interface.name) == INTERFACES) {
          throw std::runtime_error(joint.name + " has the command interface " + interface.name +
                                   "; allowed are position, velocity, effort, proportional and "
                                   "derivative");
        }
      }
      for (const auto& interface : joint.state_interfaces) {
        if (place(STATES, interface.name) == std::size(STATES)) {
          throw std::runtime_error(joint.name + " has the state interface " + interface.name +
                                   "; allowed are position, velocity and effort");
        }
      }
      Joint ours;
      ours.name = joint.name;
      joints_.push_back(ours);
    }
    if (info_.sensors.size() > 1) throw std::runtime_error("the robot has one IMU, no more sensors");
    for (const auto& sensor : info_.sensors) {
      for (const auto& interface : sensor.state_interfaces) {
        if (place(IMU, interface.name) == std::size(IMU)) {
          throw std::runtime_error("the IMU has no interface " + interface.name);
        }
      }
    }
    connection_.endpoint = parameter("endpoint", "");
    connection_.robot = parameter("robot", "");
    period_ticks_ = static_cast<std::uint64_t>(number("period_ticks", "1", 1.0, 1048576.0));
    patience_ = hardstand::Nanoseconds(
        static_cast<std::int64_t>(1e9 * number("patience_s", "5", 0.0, 86400.0)));
  } catch (const std::exception& e) {
    return failed("parameters", e);
  }
  return CallbackReturn::SUCCESS;
}

// Finds the joints in the daemon's model.
CallbackReturn HardstandSystem::on_configure(const rclcpp_lifecycle::State&) {
  try {
    client_.emplace(connection_);
    const auto model = client_->model();
    for (Joint& joint : joints_) {
      joint.place = model.joint(joint.name);
      joint.hold_kp = model.joints()[joint.place].hold_kp;
      joint.hold_kd = model.joints()[joint.place].hold_kd;
    }
    order_.resize(joints_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      return joints_[a].place < joints_[b].place;
    });
    commands_.resize(joints_.size());
  } catch (const std::exception& e) {
    return failed("connection", e);
  }
  return CallbackReturn::SUCCESS;
}

// Joins with its joints, and holds them where they are.
CallbackReturn HardstandSystem::on_activate(const rclcpp_lifecycle::State&) {
  try {
    hardstand::Join join(parameter("controller", "ros2_control"));
    for (const Joint& joint : joints_) join.joints.push_back(joint.name);
    join.period_ticks = period_ticks_;
    controller_.emplace(client_->join(join));
    if (!take(patience_)) throw std::runtime_error("no state came within patience_s");
  } catch (const std::exception& e) {
    controller_.reset();
    return failed("join", e);
  }
  for (Joint& joint : joints_) {
    joint.held = joint.measured[POSITION];
    joint.command = {joint.held, 0.0, 0.0, joint.hold_kp, joint.hold_kd};
  }
  return CallbackReturn::SUCCESS;
}

// Leaves the run: the daemon holds and then damps the joints.
CallbackReturn HardstandSystem::on_deactivate(const rclcpp_lifecycle::State&) {
  controller_.reset();
  owes_ = false;
  return CallbackReturn::SUCCESS;
}

CallbackReturn HardstandSystem::on_cleanup(const rclcpp_lifecycle::State&) {
  client_.reset();
  return CallbackReturn::SUCCESS;
}

std::vector<hardware_interface::StateInterface> HardstandSystem::export_state_interfaces() {
  std::vector<hardware_interface::StateInterface> all;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    for (const auto& interface : info_.joints[i].state_interfaces) {
      double* value = &joints_[i].measured[place(STATES, interface.name)];
      all.emplace_back(joints_[i].name, interface.name, value);
    }
  }
  for (const auto& sensor : info_.sensors) {
    for (const auto& interface : sensor.state_interfaces) {
      all.emplace_back(sensor.name, interface.name, &imu_[place(IMU, interface.name)]);
    }
  }
  return all;
}

std::vector<hardware_interface::CommandInterface> HardstandSystem::export_command_interfaces() {
  std::vector<hardware_interface::CommandInterface> all;
  for (std::size_t i = 0; i < joints_.size(); ++i) {
    for (const auto& interface : info_.joints[i].command_interfaces) {
      double* value = &joints_[i].command[place(COMMANDS, interface.name)];
      all.emplace_back(joints_[i].name, interface.name, value);
    }
  }
  return all;
}

return_type HardstandSystem::perform_command_mode_switch(const std::vector<std::string>& start,
                                                         const std::vector<std::string>& stop) {
  const auto set = [this](const std::vector<std::string>& interfaces, bool claimed) {
    for (Joint& joint : joints_) {
      for (std::size_t i = 0; i < INTERFACES; ++i) {
        const std::string name = joint.name + "/" + COMMANDS[i];
        if (std::find(interfaces.begin(), interfaces.end(), name) == interfaces.end()) continue;
        joint.claimed[i] = claimed;
        // what a controller has not set yet moves nothing
        joint.held = joint.measured[POSITION];
        joint.command[i] = std::array{joint.held, 0.0, 0.0, joint.hold_kp, joint.hold_kd}[i];
      }
    }
  };
  set(stop, false);
  set(start, true);
  return return_type::OK;
}

bool HardstandSystem::take(hardstand::Nanoseconds patience) {
  const auto state = controller_->next(patience);
  if (!state) return false;
  for (Joint& joint : joints_) {
    joint.measured = {state->q()[joint.place], state->dq()[joint.place],
                      state->tau()[joint.place]};
  }
  const double* wxyz = (*state)->imu_quat_wxyz;
  imu_ = {wxyz[1], wxyz[2], wxyz[3], wxyz[0]};
  for (std::size_t i = 0; i < 3; ++i) {
    imu_[4 + i] = (*state)->imu_angular_velocity_rad_per_s[i];
    imu_[7 + i] = (*state)->imu_specific_force_m_per_s2[i];
  }
  owes_ = true;
  return true;
}

return_type HardstandSystem::read(const rclcpp::Time&, const rclcpp::Duration&) {
  if (!controller_) return return_type::OK;
  try {
    // the state of the activation has no answer yet
    if (owes_ || take(patience_)) return return_type::OK;
    std::fprintf(stderr, "hardstand: no state came within patience_s: the daemon is paused, or "
                         "waits for another controller\n");
  } catch (const std::exception& e) {
    failed("read", e);
  }
  return return_type::ERROR;
}

// A joint without a controller is held; one with effort alone has no stiffness and no damping.
hardstand::JointCommand HardstandSystem::command(const Joint& joint) const {
  const auto& claimed = joint.claimed;
  const bool positioned = claimed[POSITION], moved = positioned || claimed[VELOCITY];
  if (std::none_of(claimed.begin(), claimed.end(), [](bool c) { return c; })) {
    return {joint.held, 0.0, joint.hold_kp, joint.hold_kd, 0.0};
  }
  const auto value = [&joint, &claimed](std::size_t i, double standard) {
    return claimed[i] && std::isfinite(joint.command[i]) ? joint.command[i] : standard;
  };
  return {value(POSITION, joint.held), value(VELOCITY, 0.0),
          value(PROPORTIONAL, positioned ? joint.hold_kp : 0.0),
          value(DERIVATIVE, moved ? joint.hold_kd : 0.0), value(EFFORT, 0.0)};
}

return_type HardstandSystem::write(const rclcpp::Time&, const rclcpp::Duration&) {
  if (!controller_ || !owes_) return return_type::OK;
  for (std::size_t i = 0; i < order_.size(); ++i) commands_[i] = command(joints_[order_[i]]);
  try {
    controller_->answer(commands_);
    owes_ = false;
    return return_type::OK;
  } catch (const std::exception& e) {
    failed("write", e);
  }
  return return_type::ERROR;
}

}  // namespace hardstand_ros2_control

PLUGINLIB_EXPORT_CLASS(hardstand_ros2_control::HardstandSystem, hardware_interface::SystemInterface)
