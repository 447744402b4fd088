"""PyPI `mini-cheetah-motor-driver-socketcan` holds twelve motors of the daemon where they are. Arguments: the CAN
interface; and how many simulated seconds pass in one.

The package takes a motor's position as zero when it enables the motor. Its frames are not for other sockets of the same
interface, so its interface is one end of a cable (vxcan), and the daemon's is the other one."""

import os
import sys
import time

try:
    from motor_driver.canmotorlib import CanMotorController
except ImportError as error:
    print(f"SKIPPED: pip install mini-cheetah-motor-driver-socketcan bitstring ({error})")
    sys.exit(77)

SPEED = float(sys.argv[2])

motors = [CanMotorController(sys.argv[1], n, "AK80_9_V1p1", socket_timeout=20.0) for n in range(1, 13)]
# the ranges of the mini cheetah's own firmware; all motors of a type share them
motors[0].change_motor_constants(-12.5, 12.5, -65.0, 65.0, 0.0, 500.0, 0.0, 5.0, -18.0, 18.0)
for n, motor in enumerate(motors):
    answer = motor.enable_motor()
    assert answer and abs(answer[0]) < 0.01, f"motor {n + 1} after its zero: {answer}"
begin, cycles = time.monotonic(), 0
while SPEED * (time.monotonic() - begin) < 4.0:
    for motor in motors:
        motor.send_rad_command(0.0, 0.0, 100.0, 3.0, 0.0)
    cycles += 1
for n, motor in enumerate(motors):
    q, _, torque = motor.send_rad_command(0.0, 0.0, 100.0, 3.0, 0.0)
    assert abs(q) < 0.3 and abs(torque) < 18.0, f"motor {n + 1}: {q} rad, {torque} N·m"
print(f"mini cheetah: ok, {cycles} cycles of 12 motors in 4 s", flush=True)
os._exit(0)
