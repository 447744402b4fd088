"""Holds twelve GO-M8010-6 of the daemon on one serial line. Unitree's own SDK is a binary library,
so the packets are written from its header `motor_msg_GO-M8010-6.h`; the checksum (PyPI `crccheck`)
and the serial port (PyPI `pyserial`) are independent. Argument: the port."""

import math
import struct
import sys
import time

try:
    import serial
    from crccheck.crc import CrcKermit
except ImportError as error:
    print(f"SKIPPED: pip install pyserial crccheck ({error})")
    sys.exit(77)

GEAR = 6.33
HOLD_RAD = (0.0, 0.8, -1.5)
# 100 N m/rad and 3 N m s/rad at the joint, at the rotor
KP, KD = 100.0 / GEAR**2, 3.0 / GEAR**2


def ask(port, motor, q=0.0, kp=0.0, kd=0.0):
    """Commands one motor and returns its angle at the rotor; None if no answer came."""
    turns = int(q / math.tau * 32768)
    numbers = (motor | 1 << 4, 0, 0, turns, int(kp * 1280), int(kd * 1280))
    body = struct.pack("<BBBhhiHH", 0xFE, 0xEE, *numbers)
    port.write(body + struct.pack("<H", CrcKermit.calc(body)))
    packet = port.read(16)
    if len(packet) < 16:
        return None
    assert packet[:2] == b"\xfd\xee" and packet[2] & 0xF == motor, packet.hex()
    assert CrcKermit.calc(packet[:14]) == struct.unpack("<H", packet[14:])[0], packet.hex()
    return struct.unpack_from("<i", packet, 7)[0] / 32768 * math.tau


port = serial.Serial(sys.argv[1], 4_000_000, timeout=2.0)
start = [ask(port, motor) for motor in range(12)]
assert None not in start, start
begin, cycles = time.monotonic(), 0
while (passed := time.monotonic() - begin) < 6.0:
    share = min(passed / 2.0, 1.0)
    for motor in range(12):
        target = start[motor] + share * (GEAR * HOLD_RAD[motor % 3] - start[motor])
        q = ask(port, motor, target, KP, KD)
    cycles += 1
for motor in range(12):
    hold = GEAR * HOLD_RAD[motor % 3]
    q = ask(port, motor, hold, KP, KD)
    assert q is not None and abs(q - hold) < GEAR * 0.3, f"motor {motor}: {q} rad, not {hold}"
print(f"GO-M8010: ok, {cycles} cycles of 12 drives in 6 s")
