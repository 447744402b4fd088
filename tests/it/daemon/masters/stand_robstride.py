"""Holds twelve RobStride of the daemon through python-can's TCP interface `socketcand`, or on a CAN
interface; PyPI `robstride` enables them and reads their answers. Arguments: the address or the
interface; and how many simulated seconds pass in one."""

import math
import struct
import sys
import time

try:
    import can
    from robstride.client import Client
except ImportError as error:
    print(f"SKIPPED: pip install robstride python-can ({error})")
    sys.exit(77)

HOLD_RAD = (0.0, 0.8, -1.5)
SPEED = float(sys.argv[2]) if sys.argv[2:] else 1.0


def number(value, low, high):
    return int((value - low) / (high - low) * 65535)


def command(motor, q, kp, kd):
    """The package has no operation mode: a frame by the manual."""
    angle = number(q, -4 * math.pi, 4 * math.pi)
    data = struct.pack(">HHHH", angle, number(0.0, -44, 44), number(kp, 0, 500), number(kd, 0, 5))
    arbitration_id = 1 << 24 | number(0.0, -17, 17) << 8 | motor
    return can.Message(arbitration_id=arbitration_id, data=data, is_extended_id=True)


host, _, tcp = sys.argv[1].partition(":")
if tcp:
    bus = can.Bus(interface="socketcand", channel="can0", host=host, port=int(tcp))
else:
    bus = can.Bus(interface="socketcan", channel=host)
client = Client(bus)


def ask(motor, q, kp, kd):
    bus.send(command(motor, q, kp, kd))
    return client._parse_feedback_resp(bus.recv(10.0), motor, 1).angle


for n in range(1, 13):
    client.enable(n)
start = [ask(n, 0.0, 0.0, 0.0) for n in range(1, 13)]
begin, cycles = time.monotonic(), 0
while (passed := SPEED * (time.monotonic() - begin)) < 6.0:
    share = min(passed / 2.0, 1.0)
    for n in range(12):
        ask(n + 1, start[n] + share * (HOLD_RAD[n % 3] - start[n]), 100.0, 3.0)
    cycles += 1
for n in range(12):
    q = ask(n + 1, HOLD_RAD[n % 3], 100.0, 3.0)
    assert abs(q - HOLD_RAD[n % 3]) < 0.3, f"motor {n + 1}: {q} rad"
print(f"RobStride: ok, {cycles} cycles of 12 drives in 6 s", flush=True)
bus.shutdown()
