"""PyPI `damiao-motor`, an independent driver, through python-can's slcan."""

import time

from common import motors, near, need, settle, until

can, damiao_motor = need("can"), need("damiao_motor")

with motors("--wire", "slcan", "damiao:1", "damiao:2") as running:
    controller = damiao_motor.DaMiaoController.__new__(damiao_motor.DaMiaoController)
    bus = can.Bus(interface="slcan", channel=running.address, sleep_after_open=0.1)
    # the package names an argument of python-can that no longer exists; the rest is its own
    import can.interface as interface

    interface_bus, interface.Bus = interface.Bus, lambda **_: bus
    controller.__init__(channel=running.address, bustype="slcan")
    interface.Bus = interface_bus
    motor = controller.add_motor(1, 17, "4310")
    other = controller.add_motor(2, 18, "4310")
    motor.ensure_control_mode("MIT")
    near(motor.get_register(21), 12.5, 0.0, "PMAX")
    near(motor.get_register(23), 10.0, 0.0, "TMAX")
    near(motor.get_register(60), 24.0, 0.0, "VBus")
    motor.set_can_timeout(10_000)
    motor.enable()
    other.enable()
    until(lambda: motor.get_states().get("status") == "ENABLED", "enabled")

    def hold(torque):
        motor.send_cmd_mit(
            target_position=-2.0, stiffness=15.0, damping=0.5, feedforward_torque=torque
        )
        return motor.get_states()["pos"]

    settle(lambda: hold(0.0), -2.0, 0.003, "position")
    state = motor.get_states()
    assert (state["t_mos"], state["t_rotor"]) == (25.0, 25.0), state
    settle(lambda: hold(1.5), -1.9, 0.004, "position under torque")
    # the target of one id does not move the motor of the other
    near(other.get_states()["pos"], 0.0, 0.001, "position of the other motor")

    running.order("condition 0 over-voltage on")

    def status(expected):
        """The package enables and clears by itself when it commands, so this only asks."""
        motor.request_motor_feedback()
        return motor.get_states()["status"] == expected

    until(lambda: status("OVER_VOLTAGE"), "over-voltage")
    running.order("condition 0 over-voltage off")
    motor.clear_error()
    until(lambda: status("DISABLED"), "cleared")
    motor.enable()
    until(lambda: status("ENABLED"), "enabled again")
    motor.set_zero_position()
    until(lambda: abs(motor.get_states()["pos"]) < 0.001, "zero")

    # the motor's own watchdog; only a request for feedback follows, which does not feed it
    motor.set_can_timeout(100)
    time.sleep(0.6)
    until(lambda: status("LOST_COMM"), "lost communication")
    controller.shutdown()
print("Damiao over slcan: ok")
