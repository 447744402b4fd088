"""PyPI `pydamiao` holds six drives of the daemon on each of two of Damiao's adapters. Arguments: the ports."""

import os
import sys
import threading
import time

try:
    from pydamiao.bus import SerialBus
    from pydamiao.motor import Motor
    from pydamiao.structs import ControlMode, MotorType
except ImportError as error:
    print(f"SKIPPED: pip install pydamiao ({error})")
    sys.exit(77)

HOLD_RAD = (0.0, 0.8, -1.5)


def hold(port, failures):
    bus = SerialBus(port)
    motors = [Motor(bus, MotorType.DM4340, n, n + 16, auto_disable=False) for n in range(1, 7)]
    start = []
    for motor in motors:
        assert motor.set_mode(ControlMode.MIT).is_ok
        motor.enable()
        while not motor.refresh_state().is_ok:
            pass
        start.append(motor.get_position())
    begin, cycles = time.monotonic(), 0
    # from where the robot is
    while (passed := time.monotonic() - begin) < 6.0:
        share = min(passed / 2.0, 1.0)
        for n, motor in enumerate(motors):
            target = start[n] + share * (HOLD_RAD[n % 3] - start[n])
            sent = motor.set_mit(pos=target, vel=0.0, kp=100.0, kd=3.0, torque=0.0)
            if not sent.is_ok:
                failures.append(f"{port}, motor {n + 1}: {sent}")
                return
        time.sleep(0.002)
        cycles += 1
    for n, motor in enumerate(motors):
        if not motor.refresh_state().is_ok or abs(motor.get_position() - HOLD_RAD[n % 3]) > 0.3:
            failures.append(f"{port}, motor {n + 1}: {motor.get_state()}")
    print(f"damiao: {cycles} cycles of 6 drives on {port} in 6 s")


problems = []
threads = [threading.Thread(target=hold, args=(port, problems)) for port in sys.argv[1:3]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not problems, problems
print("damiao: ok", flush=True)
# the package's end would disable the motors
os._exit(0)
