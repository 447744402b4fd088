"""Holds the robot's first posture over UDP, docs/port.md. Needs only Python:

    python3 hold.py 127.0.0.1:7450 5
"""

import socket
import struct
import sys
import time
import zlib

HEADER = struct.Struct("<4sHHIIQQQ")  # magic, kind, joints, bytes, run, layout, sequence, tick


def packet(kind, joints, run_id, layout_hash, sequence, tick, body):
    size = HEADER.size + len(body) + 8
    head = HEADER.pack(b"HSP1", kind, joints, size, run_id, layout_hash, sequence, tick)
    return head + body + struct.pack("<II", zlib.crc32(head + body), 0)


def read_state(data):
    magic, kind, joints, size, run_id, layout_hash, _, tick = HEADER.unpack_from(data)
    assert magic == b"HSP1" and kind == 1 and size == len(data), data[:16]
    assert zlib.crc32(data[:-8]) == struct.unpack_from("<I", data, size - 8)[0], "CRC"
    numbers = struct.unpack_from(f"<{3 * joints}d", data, 264)
    return run_id, layout_hash, tick, numbers[0::3]


def main(address, duration_s):
    host, port = address.rsplit(":", 1)
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.connect((host, int(port)))
    link.settimeout(0.2)
    sequence, hold, height, begin = 0, None, 0.0, None
    hello = packet(2, 0, 0, 0, 0, 0, b"")
    while begin is None or time.monotonic() - begin < duration_s:
        try:
            if hold is None:
                link.send(hello)
            data = link.recv(65536)
        except (TimeoutError, ConnectionRefusedError):
            continue
        begin = begin or time.monotonic()
        run_id, layout_hash, tick, positions = read_state(data)
        hold = hold or positions
        height = struct.unpack_from("<d", data, 176)[0]
        sequence += 1
        body = b"".join(struct.pack("<5d", q, 0.0, 100.0, 3.0, 0.0) for q in hold)
        link.send(packet(2, len(hold), run_id, layout_hash, sequence, tick, body))
    print(f"states {sequence}, base {height:.3f} m high")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
