"""PyPI `pydamiao`, an independent driver, through Damiao's own adapter from USB to CAN."""

from common import motors, near, need, settle, until

pydamiao = need("pydamiao")
from pydamiao.bus import SerialBus  # noqa: E402
from pydamiao.motor import Motor  # noqa: E402
from pydamiao.structs import ControlMode, MotorFault, MotorReg, MotorType  # noqa: E402

with motors("--wire", "damiao-usb", "damiao:1", "damiao:2") as running:
    bus = SerialBus(running.address)
    motor = Motor(bus, MotorType.DM4310, 1, 17, auto_disable=False)
    other = Motor(bus, MotorType.DM4310, 2, 18, auto_disable=False)
    assert motor.set_mode(ControlMode.MIT).is_ok
    for register, value in ((MotorReg.PMAX, 12.5), (MotorReg.VMAX, 30.0), (MotorReg.TMAX, 10.0)):
        read = motor.read_param(register)
        assert read.is_ok, read
        near(read.value, value, 0.0, register.name)
    motor.enable()
    other.enable()

    def hold(torque):
        motor.set_mit(pos=-2.0, vel=0.0, kp=15.0, kd=0.5, torque=torque)
        return motor.get_position()

    settle(lambda: hold(0.0), -2.0, 0.003, "position")
    near(motor.get_rotor_temp(), 25, 0, "temperature")
    settle(lambda: hold(1.5), -1.9, 0.004, "position under torque")
    assert other.refresh_state().is_ok
    near(other.get_position(), 0.0, 0.001, "position of the other motor")

    running.order("condition 0 over-voltage on")
    until(lambda: motor.refresh_state() and motor.fault == MotorFault.OVER_VOLTAGE, "over-voltage")
    running.order("condition 0 over-voltage off")
    motor.clean_error()
    motor.enable()
    motor.set_zero()
    until(lambda: motor.refresh_state() and abs(motor.get_position()) < 0.001, "zero")
    bus.close()
print("Damiao over its adapter: ok")
