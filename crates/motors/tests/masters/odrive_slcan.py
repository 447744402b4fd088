"""PyPI `odrive-can`, an independent driver with the DBC of firmware 0.6.10, through slcan."""

import asyncio
import gc

from common import Settling, motors, near, need

can, odrive_can = need("can"), need("odrive_can.odrive")
from odrive_can.odrive import DriveError, HeartbeatError, ODriveCAN  # noqa: E402


async def settle(drive, name, expected, tolerance, command):
    """Estimates come unasked. A request for them would mix with those in the package."""
    latest = {}
    drive.feedback_callback = lambda message, _: latest.update(message.data)
    settling = Settling(expected, tolerance, name)
    while not settling.done(latest.get(name)):
        command()
        await asyncio.sleep(0.02)


async def patient(request):
    """A slow machine needs longer than the package's 0.5 s."""
    for _ in range(20):
        try:
            return await request()
        except TimeoutError:
            continue
    raise AssertionError("no answer")


async def main(running):
    bus = can.Bus(interface="slcan", channel=running.address, sleep_after_open=0.1)
    drive = ODriveCAN(axis_id=2, can_bus=bus)
    await drive.start()
    # the package wants a heartbeat within 0.5 s, which a slow machine can miss
    for _ in range(50):
        try:
            drive.check_alive()
            break
        except HeartbeatError:
            await asyncio.sleep(0.1)
    else:
        raise AssertionError("no heartbeat")
    drive.check_errors()
    assert drive.axis_state == "IDLE", drive.axis_state
    supply = await patient(drive.get_bus_voltage_current)
    near(supply["Bus_Voltage"], 24.0, 0.0, "bus voltage")
    drive.set_controller_mode("POSITION_CONTROL", "PASSTHROUGH")
    await drive.set_axis_state("CLOSED_LOOP_CONTROL")
    drive.set_pos_gain(10.0)
    drive.set_vel_gains(0.4, 1.0)
    position = lambda: drive.set_input_pos(0.5)
    await settle(drive, "Pos_Estimate", 0.5, 0.01, position)
    # the integrator takes up a constant load
    running.order("load 0 0.3")
    await asyncio.sleep(0.2)
    await settle(drive, "Pos_Estimate", 0.5, 0.005, position)
    iq = await patient(drive.get_iq)
    near(iq["Iq_Measured"], -0.3 / 0.04, 0.3, "current")
    running.order("load 0 0")
    drive.set_controller_mode("VELOCITY_CONTROL", "PASSTHROUGH")
    await settle(drive, "Vel_Estimate", 1.5, 0.05, lambda: drive.set_input_vel(1.5))

    # the axis's own watchdog, 2 s in this example
    for _ in range(300):
        await asyncio.sleep(0.1)
        if drive.axis_state == "IDLE":
            break
    try:
        drive.check_errors()
        raise AssertionError("the watchdog did not expire")
    except DriveError as error:
        assert "WATCHDOG_TIMER_EXPIRED" in str(error), error
    drive.clear_errors()
    for _ in range(100):
        await asyncio.sleep(0.1)
        if drive._last_heartbeat.data["Axis_Error"] == "NONE":
            break
    drive.check_errors()

    # an error of the hardware disarms
    await drive.set_axis_state("CLOSED_LOOP_CONTROL")
    running.order("condition 0 over-voltage on")
    for _ in range(100):
        await asyncio.sleep(0.1)
        state, error = drive.axis_state, drive._last_heartbeat.data["Axis_Error"]
        if state == "IDLE":
            break
    assert (state, error) == ("IDLE", "DC_BUS_OVER_VOLTAGE"), (state, error)
    running.order("condition 0 over-voltage off")
    drive.stop()


with motors("--wire", "slcan", "odrive:2") as running:
    asyncio.run(main(running))
    # the package closes its port when it is collected
    gc.collect()
print("ODrive over slcan: ok")
