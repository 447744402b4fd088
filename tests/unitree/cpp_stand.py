"""Unitree's C++ library, as PyPI `far-unitree-sdk` wraps it: holds the robot at its first posture and
prints what the library reads. The first word is the robot, `go2` or `g1`."""
import sys
import time

import unitree_interface as u

robot = sys.argv[1]
config = {"go2": u.GO2_GO2_CONFIG, "g1": u.G1_HG_CONFIG}[robot]
interface = u.UnitreeInterface("lo", config)
for _ in range(50):
    state = interface.read_low_state()
    if any(state.motor.q):
        break
    time.sleep(0.1)
start = list(state.motor.q)
assert any(start), "no state"
command = interface.create_zero_command()
begin = time.monotonic()
step = 0
while (now := time.monotonic() - begin) < 4.0:
    command.q_target = start
    command.dq_target = [0.0] * len(start)
    command.kp = [60.0 if robot == "go2" else 80.0] * len(start)
    command.kd = [3.0] * len(start)
    command.tau_ff = [0.0] * len(start)
    interface.write_low_command(command)
    step += 1
    time.sleep(max(0.0, begin + step * 0.002 - time.monotonic()))
state = interface.read_low_state()
moved = max(abs(a - b) for a, b in zip(start, state.motor.q))
print(f"rpy {[round(x, 3) for x in state.imu.rpy]} accel {[round(x, 2) for x in state.imu.accel]} "
      f"mode_machine {state.mode_machine} moved {moved:.3f}")
print("odometry", [round(x, 3) for x in interface.read_odom_state().position])
assert max(map(abs, state.imu.rpy[:2])) < 0.3 and moved < 0.3
print("Done!")
