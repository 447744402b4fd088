// Stub: README.md.
#pragma once

namespace hardware_interface {
enum class return_type { OK, ERROR, DEACTIVATE };
}
