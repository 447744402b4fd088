"""PyPI `robstride`, an independent driver, through python-can's TCP interface `socketcand`."""

import math
import struct
import time

from common import motors, near, need, settle, until

can, robstride = need("can"), need("robstride.client").client

with motors("--wire", "socketcand", "robstride:5") as running:
    host, port = running.address.split(":")
    bus = can.Bus(interface="socketcand", channel="can0", host=host, port=int(port))
    client = robstride.Client(bus)
    assert client.read_param(5, "run_mode") == robstride.RunMode.Operation
    near(client.read_param(5, "vbus"), 24.0, 0.0, "bus voltage")
    client.enable(5)
    number = lambda value, low, high: int((value - low) / (high - low) * 65535)
    data = struct.pack(
        ">HHHH",
        number(-1.0, -4 * math.pi, 4 * math.pi),
        number(0.0, -44, 44),
        number(10.0, 0, 500),
        number(0.4, 0, 5),
    )
    # the package has no operation mode: a frame by the manual, its answer read by the package
    control = can.Message(
        arbitration_id=1 << 24 | number(0.0, -17, 17) << 8 | 5, data=data, is_extended_id=True
    )

    def ask():
        bus.send(control)
        return client._parse_feedback_resp(bus.recv(10.0), 5, 1)

    settle(lambda: ask().angle, -1.0, 0.003, "position")
    settle(lambda: ask().velocity, 0.0, 0.02, "velocity")
    assert ask().errors == []
    # the watchdog of RobStride, 100 ms in units of 50 us
    watchdog = can.Message(
        arbitration_id=18 << 24 | 0xAA << 8 | 5,
        data=struct.pack("<HHI", 0x7028, 0, 2000),
        is_extended_id=True,
    )
    bus.send(watchdog)
    client._recv()
    # any frame would feed it
    time.sleep(2.0)
    running.order("load 0 0.2")
    until(lambda: client.read_param(5, "mechpos") > -0.9, "the motor lets go")
    running.order("load 0 0")
    client.disable(5)
    bus.shutdown()
print("RobStride over socketcand: ok")
