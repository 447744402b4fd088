"""The maker's own master (PyPI `moteus`) over fdcanusb's text protocol on a pseudo-terminal."""

import asyncio
import math
import time

from common import Settling, motors, near, need

moteus = need("moteus")
R = moteus.Register
FREE = {"position": math.nan, "kp_scale": 0.0, "kd_scale": 0.0}


async def main(running):
    # the package waits 0.2 s by default, which is short for a machine with other work
    transport = moteus.Fdcanusb(running.address, command_timeout=10.0, response_timeout=2.0)
    one, two = (moteus.Controller(id=n, transport=transport) for n in (1, 2))
    await rest(one)
    await position(one)
    await resolutions(one)
    await torque(one, running)
    await trajectory(one)
    await watchdog(one)
    await faults(one, running)
    await several(transport, one, two)
    await losses(one, running)


async def rest(one):
    values = (await one.query()).values
    assert values[R.MODE] == 0 and values[R.FAULT] == 0, values
    near(values[R.VOLTAGE], 24.0, 0.0, "voltage")
    near(values[R.TEMPERATURE], 25.0, 0.0, "temperature")


async def settle(one, register, expected, tolerance, what, **command):
    """Repeats a command until a register has settled; all registers."""
    settling, values = Settling(expected, tolerance, what), {}
    while not settling.done(values.get(register)):
        result = await one.set_position(query=True, watchdog_timeout=20.0, **command)
        values = result.values if result else values
        await asyncio.sleep(0.004)
    return values


async def position(one):
    first = await one.set_position(position=0.25, query=True, watchdog_timeout=20.0)
    # the firmware reads registers before the command takes effect
    assert first.values[R.MODE] == 0, first
    values = await settle(one, R.POSITION, 0.25, 0.002, "position", position=0.25)
    assert values[R.MODE] == 10, values
    # kp_scale 0.5 against 0.1 N m: 0.1 / (4.0 * 0.5) revolutions of error
    soft = {"position": 0.25, "kp_scale": 0.5, "kd_scale": 1.0, "feedforward_torque": 0.1}
    await settle(one, R.POSITION, 0.25 + 0.05, 0.003, "position under torque", **soft)
    limited = {**FREE, "maximum_torque": 0.05, "feedforward_torque": 0.2}
    await settle(one, R.TORQUE, 0.05, 0.001, "limited torque", **limited)


async def resolutions(one):
    await one.set_stop()
    steps = {moteus.INT8: 0.01, moteus.INT16: 0.0001, moteus.INT32: 0.00001}
    time.sleep(0.5)
    for kind, step in steps.items():
        await one.set_output_exact(position=0.123456)
        query = moteus.QueryResolution()
        query.position = kind
        integer = (await one.query(query_override=query)).values[R.POSITION]
        # towards zero, as the firmware's cast does
        assert abs(integer / step - round(integer / step)) < 1e-6, (kind, integer)
        exact = (await one.query()).values[R.POSITION]
        assert -1e-9 <= (exact - integer) * math.copysign(1, exact) < step * 1.01 + 2e-4, (kind, exact)
    extra = {0x100: moteus.INT32, 0x102: moteus.INT32, 0x120: moteus.INT32}
    identity = (await one.custom_query(extra)).values
    assert identity[0x102] == 5, identity
    unknown = await one.custom_query({0x7F0: moteus.INT32})
    assert 0x7F0 not in unknown.values, unknown


async def torque(one, running):
    await one.set_output_exact(position=0.0)
    turn = {**FREE, "feedforward_torque": 0.05}
    # damping 0.02 N m s of the rotor
    velocity = 0.05 / 0.02 / math.tau
    values = await settle(one, R.VELOCITY, velocity, 0.005, "velocity", **turn)
    near(values[R.TORQUE], 0.05, 1e-6, "torque")
    running.order("load 0 -0.05")
    await settle(one, R.VELOCITY, 0.0, 0.005, "velocity under load", **turn)
    running.order("load 0 0")


async def trajectory(one):
    await one.set_stop()
    await one.set_output_exact(position=0.0)
    begin = time.monotonic()
    result = await one.set_position_wait_complete(
        position=0.5, velocity_limit=0.25, accel_limit=0.5, watchdog_timeout=20.0
    )
    took = time.monotonic() - begin
    # 0.5 s to speed up, 0.5 s to slow down, 1.5 s between
    assert 2.4 < took < 20.0, took
    near(result.values[R.POSITION], 0.5, 0.02, "end of the trajectory")


async def watchdog(one):
    await one.set_stop()
    await one.set_position(position=math.nan, watchdog_timeout=0.1, query=True)
    await asyncio.sleep(0.6)
    assert (await one.query()).values[R.MODE] == 11
    await one.set_position(position=math.nan, query=True)
    assert (await one.query()).values[R.MODE] == 11, "a position command ended the timeout"
    await one.set_stop()
    assert (await one.query()).values[R.MODE] == 0
    # NaN is no watchdog
    await one.set_position(position=math.nan, watchdog_timeout=math.nan, query=True)
    await asyncio.sleep(0.6)
    assert (await one.query()).values[R.MODE] == 10
    await one.set_brake()
    assert (await one.query()).values[R.MODE] == 15


async def faults(one, running):
    codes = {"over-voltage": 34, "encoder": 35, "over-temperature": 38, "gate-driver": 33}
    for name, code in codes.items():
        await one.set_stop()
        await one.set_position(position=math.nan, watchdog_timeout=math.nan)
        running.order(f"condition 0 {name} on")
        await asyncio.sleep(0.1)
        values = (await one.query()).values
        assert (values[R.MODE], values[R.FAULT]) == (1, code), (name, values)
        await one.set_position(position=0.0, watchdog_timeout=math.nan)
        assert (await one.query()).values[R.MODE] == 1, "a fault ends with a stop only"
        running.order(f"condition 0 {name} off")
        await one.set_stop()
        values = (await one.query()).values
        assert (values[R.MODE], values[R.FAULT]) == (0, 0), (name, values)
    running.order("environment 0 47.5 31 40")
    await one.set_position(position=math.nan, watchdog_timeout=math.nan)
    await asyncio.sleep(0.1)
    values = (await one.query()).values
    near(values[R.VOLTAGE], 47.5, 0.0, "voltage")
    near(values[R.TEMPERATURE], 31.0, 0.0, "temperature")
    assert values[R.FAULT] == 34, values
    running.order("environment 0 24 25 25")
    await one.set_stop()


async def several(transport, one, two):
    # ids above 7 need extended frames; two is here to answer in the same cycle
    results = await transport.cycle([one.make_query(), two.make_query()])
    assert sorted(result.id for result in results) == [1, 2], results


async def losses(one, running):
    # errors on the wire are repeated by the controllers: every query is answered
    running.order("faults 1 0.2 0")
    answered = [await one.query() for _ in range(50)]
    assert all(answered), answered
    statistics = running.order("statistics")
    errors = int(statistics.split("errors: ")[1].split(",")[0])
    assert 2 <= errors <= 40, statistics
    # frames that the drive's controller loses are not: some queries have no answer
    running.order("faults 1 0 0.4")
    answers = [await one.query() for _ in range(15)]
    lost = sum(1 for answer in answers if not answer)
    assert 1 <= lost <= 13, lost
    assert all(answer.values[R.MODE] == 0 for answer in answers if answer)
    running.order("faults 1 0 0")


with motors("--inertia", "0.002", "moteus:1", "moteus:2") as running:
    asyncio.run(main(running))
print("moteus over fdcanusb: ok")
