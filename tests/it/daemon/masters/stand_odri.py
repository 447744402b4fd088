"""Holds twelve motors of the daemon behind a master board, with the maker's own library (PyPI
`master-board`). Arguments: the network interface, and seconds to hold."""

import math
import sys
import time

try:
    import libmaster_board_sdk_pywrap as sdk
except ImportError as error:
    print(f"SKIPPED: pip install master-board ({error})")
    sys.exit(77)

GEAR, NM_PER_A = 9.0, 0.5
HOLD_RAD = (0.0, 0.8, -1.5)
# 100 N m/rad and 3 N m s/rad at the joint, in A/rad and A s/rad at the rotor
KP, KD = 100.0 / (GEAR**2 * NM_PER_A), 3.0 / (GEAR**2 * NM_PER_A)


def begin(name):
    """A session, from its init to motors that are ready. The library gives a connection up after
    50 ms without a packet, so on a busy machine it takes more than one."""
    board = sdk.MasterBoardInterface(name)
    assert board.Init() == 0
    motors = [board.GetMotor(n) for n in range(12)]
    drivers = [board.GetDriver(n) for n in range(6)]
    while not board.IsTimeout() and not board.IsAckMsgReceived():
        board.SendInit()
        time.sleep(0.001)
    for driver in drivers:
        driver.Enable()
        driver.SetTimeout(100)
    for motor in motors:
        motor.SetCurrentReference(0.0)
        motor.Enable()
    while not board.IsTimeout():
        board.ParseSensorData()
        if all(motor.IsEnabled() and motor.IsReady() for motor in motors):
            break
        board.SendCommand()
        time.sleep(0.001)
    return board, motors, drivers


def hold(board, motors, seconds):
    """Cycles in which the motors were held, until the time is over or the library gives up."""
    start = [motor.GetPosition() for motor in motors]
    begun, cycles = time.monotonic(), 0
    while (passed := time.monotonic() - begun) < seconds and not board.IsTimeout():
        board.ParseSensorData()
        share = min(passed / 2.0, 1.0)
        for n, motor in enumerate(motors):
            target = start[n] + share * (GEAR * HOLD_RAD[n % 3] - start[n])
            motor.SetPositionReference(target)
            motor.SetVelocityReference(0.0)
            motor.SetKp(KP)
            motor.SetKd(KD)
            motor.SetSaturationCurrent(10.0)
        board.SendCommand()
        cycles += 1
        time.sleep(0.001)
    return cycles


for attempt in range(20):
    board, motors, drivers = begin(sys.argv[1])
    cycles = 0 if board.IsTimeout() else hold(board, motors, float(sys.argv[2]))
    if not board.IsTimeout():
        break
    print(f"session {attempt} timed out after {cycles} cycles", flush=True)
    board.Stop()
assert not board.IsTimeout(), "no session lasted"
board.ParseSensorData()
assert all(driver.IsConnected() and driver.IsEnabled() for driver in drivers)
assert [driver.GetErrorCode() for driver in drivers] == [0] * 6
for n, motor in enumerate(motors):
    q = motor.GetPosition() / GEAR
    assert abs(q - HOLD_RAD[n % 3]) < 0.3, f"motor {n}: {q} rad, not {HOLD_RAD[n % 3]}"
up = board.imu_data_accelerometer(2)
assert 9.0 < up < 10.6, f"the IMU shows {up} m/s2 on z"
tilt = max(abs(board.imu_data_attitude(n)) for n in range(2))
assert tilt < 0.2, f"the IMU shows a tilt of {tilt} rad"
lost = board.GetSensorsLost()
print(f"ODRI: ok, {cycles} cycles of 12 motors, {lost} packets of sensors lost", flush=True)
board.Stop()
