// Stub: README.md. The class can be made, as a loader would.
#pragma once

#define PLUGINLIB_EXPORT_CLASS(Class, Base) \
  Base* hardstand_stub_make() { return new Class; }
