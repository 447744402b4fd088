// Stub: README.md.
#pragma once

namespace rclcpp {
class Duration {};
}
