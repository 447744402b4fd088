"""A master for GO-M8010-6, written from the packet layout in Unitree's published header
`motor_msg_GO-M8010-6.h`. Unitree's own SDK is a binary library, so this test is ours; only the
checksum (PyPI `crccheck`) and the serial port (PyPI `pyserial`) are independent."""

import math
import struct

from common import motors, near, need, settle

crc = need("crccheck.crc").crc.CrcKermit
serial = need("serial")
GEAR = 6.33


def request(motor, mode, tau=0.0, dq=0.0, q=0.0, kp=0.0, kd=0.0):
    """All numbers at the rotor."""
    body = struct.pack(
        "<BBBhhiHH",
        0xFE,
        0xEE,
        motor | mode << 4,
        int(tau * 256),
        int(dq / math.tau * 256),
        int(q / math.tau * 32768),
        int(kp * 1280),
        int(kd * 1280),
    )
    return body + struct.pack("<H", crc.calc(body))


def parse(packet):
    assert len(packet) == 16 and packet[:2] == b"\xfd\xee", packet.hex()
    assert crc.calc(packet[:14]) == struct.unpack("<H", packet[14:])[0], packet.hex()
    mode, tau, dq, q, celsius, status = struct.unpack("<xxBhhibH", packet[:14])
    return {
        "id": mode & 0xF,
        "mode": mode >> 4,
        "tau": tau / 256,
        "dq": dq / 256 * math.tau,
        "q": q / 32768 * math.tau,
        "celsius": celsius,
        "error": status & 7,
        "force": status >> 3 & 0xFFF,
    }


with motors("go-m8010:0", "go-m8010:1") as running:
    port = serial.Serial(running.address, 4_000_000, timeout=2.0)

    def ask(motor, mode=1, **command):
        port.write(request(motor, mode, **command))
        return parse(port.read(16))

    first = ask(0, mode=0)
    assert (first["id"], first["mode"], first["error"], first["celsius"]) == (0, 0, 0, 25), first

    # gains at the rotor: the joint feels them times the square of the gear
    q = GEAR * 0.5
    settle(lambda: ask(0, q=q, kp=0.5, kd=0.02)["q"], q, 0.01, "position")
    torque = {"q": q, "kp": 0.5, "kd": 0.02, "tau": 0.1}
    settle(lambda: ask(0, **torque)["q"], q + 0.1 / 0.5, 0.01, "position under torque")
    # damping 0.02 N m s at the joint against 0.05 * GEAR^2
    expected = GEAR * 2.0 * 0.05 * GEAR**2 / (0.05 * GEAR**2 + 0.02)
    settle(lambda: ask(0, dq=GEAR * 2.0, kd=0.05)["dq"], expected, 0.1, "velocity")
    assert ask(1)["id"] == 1
    near(ask(1)["q"], 0.0, 0.001, "position of the other motor")

    # a broadcast and a damaged packet have no answer
    port.timeout = 0.3
    port.write(request(15, 1, kd=0.02))
    assert port.read(16) == b""
    damaged = bytearray(request(0, 1))
    damaged[5] ^= 1
    port.write(damaged)
    assert port.read(16) == b""
    port.timeout = 2.0
    running.order("condition 0 encoder on")
    assert ask(0)["error"] == 4
    running.order("condition 0 encoder off")
    running.order("environment 0 24 25 95")
    hot = ask(0)
    assert (hot["error"], hot["celsius"]) == (1, 95), hot
    running.order("environment 0 24 25 25")
    # bit errors on the line: requests fail, none of the answers that pass the CRC is wrong
    port.timeout = 0.05
    running.order("line 0.2 0.1")
    missing = 0
    for _ in range(60):
        port.reset_input_buffer()
        port.write(request(0, 1, kd=0.02))
        packet = port.read(16)
        whole = len(packet) == 16 and crc.calc(packet[:14]) == struct.unpack("<H", packet[14:])[0]
        missing += not whole
    assert 5 <= missing <= 50, missing
    port.close()
print("GO-M8010-6 over RS-485: ok")
