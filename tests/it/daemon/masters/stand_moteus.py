"""The maker's own master (PyPI `moteus`) holds twelve drives of the daemon. Arguments: the port, or a
CAN interface; and how many simulated seconds pass in one."""

import asyncio
import math
import sys
import time

try:
    import moteus
except ImportError as error:
    print(f"SKIPPED: pip install moteus ({error})")
    sys.exit(77)

HOLD_REV = [angle / (2.0 * math.pi) for angle in (0.0, 0.8, -1.5)]
R = moteus.Register
SPEED = float(sys.argv[2]) if sys.argv[2:] else 1.0


async def main(port):
    if port.startswith("/"):
        transport = moteus.Fdcanusb(port, command_timeout=10.0, response_timeout=2.0)
    else:
        transport = moteus.PythonCan(interface="socketcan", channel=port)
    drives = [moteus.Controller(id=n + 1, transport=transport) for n in range(12)]
    results = await transport.cycle([drive.make_stop(query=True) for drive in drives])
    start = {result.id: result.values[R.POSITION] for result in results}
    assert len(start) == 12, start
    begin, cycles = time.monotonic(), 0
    # from where the robot is
    while (passed := SPEED * (time.monotonic() - begin)) < 6.0:
        share = min(passed / 2.0, 1.0)
        targets = [q + share * (HOLD_REV[(n - 1) % 3] - q) for n, q in sorted(start.items())]
        results = await transport.cycle(
            [d.make_position(position=q, query=True) for d, q in zip(drives, targets)]
        )
        cycles += 1
    assert len(results) == 12, len(results)
    for result in results:
        q, hold = result.values[R.POSITION], HOLD_REV[(result.id - 1) % 3]
        assert result.values[R.MODE] == 10, result
        assert abs(q - hold) < 0.05, f"drive {result.id}: {q} rev, not {hold}"
    print(f"moteus: ok, {cycles} cycles of 12 drives in 6 s")


asyncio.run(main(sys.argv[1]))
