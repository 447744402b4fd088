// A hardware plugin of ros2_control on libhardstand: position, velocity, effort and gains of each
// joint, and an IMU. README.md beside this file shows how it is built and configured.

#ifndef HARDSTAND_ROS2_CONTROL__HARDSTAND_SYSTEM_HPP_
#define HARDSTAND_ROS2_CONTROL__HARDSTAND_SYSTEM_HPP_

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <hardware_interface/handle.hpp>
#include <hardware_interface/hardware_info.hpp>
#include <hardware_interface/system_interface.hpp>
#include <hardware_interface/types/hardware_interface_return_values.hpp>
#include <rclcpp/duration.hpp>
#include <rclcpp/time.hpp>
#include <rclcpp_lifecycle/state.hpp>

#include "hardstand.hpp"

namespace hardstand_ros2_control {

using CallbackReturn = hardware_interface::CallbackReturn;

class HardstandSystem : public hardware_interface::SystemInterface {
 public:
  CallbackReturn on_init(const hardware_interface::HardwareInfo& info) override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State& before) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State& before) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State& before) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State& before) override;

  std::vector<hardware_interface::StateInterface> export_state_interfaces() override;
  std::vector<hardware_interface::CommandInterface> export_command_interfaces() override;
  // Which interfaces a controller commands decides what a joint's drive does.
  hardware_interface::return_type perform_command_mode_switch(
      const std::vector<std::string>& start, const std::vector<std::string>& stop) override;

  // Waits for the next state: in lockstep the one that is to be answered, in real time the newest.
  hardware_interface::return_type read(const rclcpp::Time& time,
                                       const rclcpp::Duration& period) override;
  // Answers that state.
  hardware_interface::return_type write(const rclcpp::Time& time,
                                        const rclcpp::Duration& period) override;

 private:
  // In the order of COMMANDS in the source.
  static constexpr std::size_t INTERFACES = 5;

  struct Joint {
    std::string name;
    std::size_t place = 0;  // in the states
    double hold_kp = 0.0, hold_kd = 0.0;
    // position, velocity, effort
    std::array<double, 3> measured{};
    std::array<double, INTERFACES> command{};
    std::array<bool, INTERFACES> claimed{};
    // where it is held while no controller commands it
    double held = 0.0;
  };

  bool take(hardstand::Nanoseconds patience);
  std::string parameter(const std::string& name, const std::string& standard) const;
  double number(const std::string& name, const std::string& standard, double least,
                double most) const;
  hardstand::JointCommand command(const Joint& joint) const;
  CallbackReturn failed(const char* what, const std::exception& e) const;

  std::vector<Joint> joints_;
  // orientation x y z w, angular velocity x y z, linear acceleration x y z
  std::array<double, 10> imu_{};
  hardstand::Connection connection_;
  std::uint64_t period_ticks_ = 1;
  hardstand::Nanoseconds patience_ = hardstand::PATIENCE;
  std::optional<hardstand::Client> client_;
  std::optional<hardstand::Controller> controller_;
  // places of this plugin's joints in a command, which has the model's order
  std::vector<std::size_t> order_;
  std::vector<hardstand::JointCommand> commands_;
  bool owes_ = false;
};

}  // namespace hardstand_ros2_control

#endif  // HARDSTAND_ROS2_CONTROL__HARDSTAND_SYSTEM_HPP_
