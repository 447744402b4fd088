"""The maker's own master (PyPI `moteus`) through python-can's slcan, CAN FD with bit rate switch."""

import asyncio
import math

from common import motors, near, need

moteus, can = need("moteus"), need("can")
R = moteus.Register


async def main(running):
    transport = moteus.PythonCan(
        interface="slcan", channel=running.address, sleep_after_open=0.1, bitrate=1_000_000
    )
    # 33 needs an extended identifier for its answers
    drives = [moteus.Controller(id=n, transport=transport) for n in (1, 33)]
    for drive in drives:
        assert (await drive.query()).values[R.MODE] == 0
        await drive.set_position(position=0.1, watchdog_timeout=math.nan, query=True)
    await asyncio.sleep(3.0)
    for drive in drives:
        values = (await drive.query()).values
        assert values[R.MODE] == 10, values
        near(values[R.POSITION], 0.1, 0.002, "position")
    transport.close()


with motors("--wire", "slcan", "--inertia", "0.002", "moteus:1", "moteus:33") as running:
    asyncio.run(main(running))
print("moteus over slcan: ok")
