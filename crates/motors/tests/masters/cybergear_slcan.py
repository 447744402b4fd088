"""PyPI `python-cybergear`, an independent driver, through python-can's slcan."""

import time

from common import motors, near, need, settle, until

need("can")
cybergear = need("cybergear")
if not hasattr(cybergear, "CyberGearMotor"):
    import importlib

    try:
        cybergear = importlib.import_module("cybergear.cybergear")
    except ImportError:
        cybergear = None
if not hasattr(cybergear, "CyberGearMotor"):
    from common import skip

    skip("pip install python-cybergear")

with motors("--wire", "slcan", "cybergear:12", "cybergear:13") as running:
    bus = {"interface": "slcan", "channel": running.address, "sleep_after_open": 0.1}
    scan = cybergear.CyberGearMotor.scan
    found = scan(bus_config=bus, candidates=list(range(10, 16)), timeout=1.0)
    assert [n for n, _ in found] == [12, 13], found
    assert found[0][1] == bytes([12, 1, 2, 3, 4, 5, 6, 7]), found
    motor = cybergear.CyberGearMotor(bus_config=bus, can_id=12, poll_interval=None)
    motor.run_mode = "operation"
    motor.enable()
    until(lambda: motor.feedback.mode == 2, "run mode")

    def hold(torque):
        motor.motor_control(torque=torque, position=1.0, velocity=0.0, kp=20.0, kd=0.5)
        return motor.feedback.position

    settle(lambda: hold(0.0), 1.0, 0.002, "position")
    near(motor.feedback.temperature, 25.0, 0.05, "temperature")
    # 2 N m against a stiffness of 20 N m/rad
    settle(lambda: hold(2.0), 1.1, 0.002, "position under torque")
    near(motor.feedback.torque, 0.0, 0.01, "torque at rest")
    motor.limit_torque = 0.5
    running.order("load 0 1.5")

    def free():
        motor.motor_control(torque=2.0, position=1.0, velocity=0.0, kp=0.0, kd=0.0)
        return motor.feedback.torque

    settle(free, 0.5, 0.001, "limited torque")
    running.order("load 0 0")
    motor.start_polling(0.05)
    until(lambda: motor._parameters.get("v_bus") == 24.0, "bus voltage")
    motor.stop_polling()

    running.order("condition 0 over-current on")
    motor.motor_control(torque=0.0, position=0.0, velocity=0.0, kp=1.0, kd=0.5)
    until(lambda: motor.feedback.faults.over_current, "fault bit")
    assert motor.feedback.mode == 0, motor.feedback
    running.order("condition 0 over-current off")
    motor.motor_control(torque=0.0, position=0.0, velocity=0.0, kp=1.0, kd=0.5)
    time.sleep(0.1)
    assert motor.feedback.faults.over_current, "errors are latched"
    motor.disable()
    motor.close()
print("CyberGear over slcan: ok")
