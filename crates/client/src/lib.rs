//! The two sides of a daemon: controllers, which command the robot, and operators, which command
//! the daemon.
