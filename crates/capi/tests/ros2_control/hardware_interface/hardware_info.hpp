// Stub: README.md.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

namespace hardware_interface {

struct InterfaceInfo {
  std::string name;
};

struct ComponentInfo {
  std::string name, type;
  std::vector<InterfaceInfo> command_interfaces, state_interfaces;
  std::unordered_map<std::string, std::string> parameters;
};

struct HardwareInfo {
  std::string name, type;
  std::unordered_map<std::string, std::string> hardware_parameters;
  std::vector<ComponentInfo> joints, sensors;
};

}  // namespace hardware_interface
