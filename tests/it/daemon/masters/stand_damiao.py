"""PyPI `damiao-motor` holds six drives of the daemon on each of two buses. Arguments: the ports, or
CAN interfaces; and how many simulated seconds pass in one."""

import os
import sys
import threading
import time

try:
    import can
    import can.interface as interface
    from damiao_motor import DaMiaoController
except ImportError as error:
    print(f"SKIPPED: pip install damiao-motor python-can pyserial ({error})")
    sys.exit(77)

HOLD_RAD = (0.0, 0.8, -1.5)
SPEED = float(sys.argv[3]) if sys.argv[3:] else 1.0


def connect(port):
    """The package names an argument of python-can that no longer exists; the rest is its own."""
    if port.startswith("/"):
        bus = can.Bus(interface="slcan", channel=port, sleep_after_open=0.1)
    else:
        bus = can.Bus(interface="socketcan", channel=port)
    before, interface.Bus = interface.Bus, lambda **_: bus
    controller = DaMiaoController(channel=port, bustype="slcan")
    interface.Bus = before
    return controller


def wait_for_position(motor):
    """Commands nothing until the motor has answered."""
    while "pos" not in (motor.get_states() or {}):
        motor.send_cmd_mit(
            target_position=0.0, target_velocity=0.0, stiffness=0.0, damping=0.0,
            feedforward_torque=0.0,
        )
        time.sleep(0.01)
    return motor.get_states()["pos"]


def hold(port, controller, failures):
    motors = [
        controller.add_motor(motor_id=n, feedback_id=n + 16, motor_type="4340") for n in range(1, 7)
    ]
    for motor in motors:
        motor.enable()
    begin, cycles = time.monotonic(), 0
    start = [wait_for_position(motor) for motor in motors]
    # from where the robot is
    while (passed := SPEED * (time.monotonic() - begin)) < 6.0:
        share = min(passed / 2.0, 1.0)
        for n, motor in enumerate(motors):
            target = start[n] + share * (HOLD_RAD[n % 3] - start[n])
            motor.send_cmd_mit(
                target_position=target, target_velocity=0.0, stiffness=100.0, damping=3.0,
                feedforward_torque=0.0,
            )
        # the package's own thread reads: two readers of a CAN socket may block each other
        time.sleep(0.004)
        cycles += 1
    for n, motor in enumerate(motors):
        state = motor.get_states()
        if not state or abs(state["pos"] - HOLD_RAD[n % 3]) > 0.3:
            failures.append(f"{port}, motor {n + 1}: {state}")
    print(f"damiao: {cycles} cycles of 6 drives on {port} in 6 s")


problems = []
ports = {port: connect(port) for port in sys.argv[1:3]}
threads = [threading.Thread(target=hold, args=(*port, problems)) for port in ports.items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not problems, problems
print("damiao: ok", flush=True)
# the package's end would disable the motors
os._exit(0)
