"""Writes unitree.json: hash, definition and one message of each of Unitree's types, with the checksum that Unitree's own
code gives it. Made with PyPI rosbags (0.11.9) for hash and bytes, and struct for the checksum.

    pip install rosbags==0.11.9 && python3 tests/ros2/unitree.py > tests/ros2/unitree.json

Definitions: github.com/unitreerobotics/unitree_ros2, unitree_go/msg. The checksum is computed as unitree_sdk2py's
utils/crc.py does: over the C structs, whose layouts are its formats.
"""
import json
import struct

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

TYPES = {
    "MotorCmd": "uint8 mode\nfloat32 q\nfloat32 dq\nfloat32 tau\nfloat32 kp\nfloat32 kd\nuint32[3] reserve",
    "BmsCmd": "uint8 off\nuint8[3] reserve",
    "LowCmd": "uint8[2] head\nuint8 level_flag\nuint8 frame_reserve\nuint32[2] sn\nuint32[2] version\n"
    "uint16 bandwidth\nMotorCmd[20] motor_cmd\nBmsCmd bms_cmd\nuint8[40] wireless_remote\nuint8[12] led\n"
    "uint8[2] fan\nuint8 gpio\nuint32 reserve\nuint32 crc",
    "IMUState": "float32[4] quaternion\nfloat32[3] gyroscope\nfloat32[3] accelerometer\nfloat32[3] rpy\n"
    "int8 temperature",
    "MotorState": "uint8 mode\nfloat32 q\nfloat32 dq\nfloat32 ddq\nfloat32 tau_est\nfloat32 q_raw\nfloat32 dq_raw\n"
    "float32 ddq_raw\nint8 temperature\nuint32 lost\nuint32[2] reserve",
    "BmsState": "uint8 version_high\nuint8 version_low\nuint8 status\nuint8 soc\nint32 current\nuint16 cycle\n"
    "int8[2] bq_ntc\nint8[2] mcu_ntc\nuint16[15] cell_vol",
    "LowState": "uint8[2] head\nuint8 level_flag\nuint8 frame_reserve\nuint32[2] sn\nuint32[2] version\n"
    "uint16 bandwidth\nIMUState imu_state\nMotorState[20] motor_state\nBmsState bms_state\nint16[4] foot_force\n"
    "int16[4] foot_force_est\nuint32 tick\nuint8[40] wireless_remote\nuint8 bit_flag\nfloat32 adc_reel\n"
    "int8 temperature_ntc1\nint8 temperature_ntc2\nfloat32 power_v\nfloat32 power_a\nuint16[4] fan_frequency\n"
    "uint32 reserve\nuint32 crc",
    "TimeSpec": "int32 sec\nuint32 nanosec",
    "PathPoint": "float32 t_from_start\nfloat32 x\nfloat32 y\nfloat32 yaw\nfloat32 vx\nfloat32 vy\nfloat32 vyaw",
    "SportModeState": "TimeSpec stamp\nuint32 error_code\nIMUState imu_state\nuint8 mode\nfloat32 progress\n"
    "uint8 gait_type\nfloat32 foot_raise_height\nfloat32[3] position\nfloat32 body_height\nfloat32[3] velocity\n"
    "float32 yaw_speed\nfloat32[4] range_obstacle\nint16[4] foot_force\nfloat32[12] foot_position_body\n"
    "float32[12] foot_speed_body\nPathPoint[10] path_point",
    "WirelessController": "float32 lx\nfloat32 ly\nfloat32 rx\nfloat32 ry\nuint16 keys",
}
HG_TYPES = {
    "MotorCmd": "uint8 mode\nfloat32 q\nfloat32 dq\nfloat32 tau\nfloat32 kp\nfloat32 kd\nuint32 reserve",
    "LowCmd": "uint8 mode_pr\nuint8 mode_machine\nMotorCmd[35] motor_cmd\nuint32[4] reserve\nuint32 crc",
    "IMUState": "float32[4] quaternion\nfloat32[3] gyroscope\nfloat32[3] accelerometer\nfloat32[3] rpy\n"
    "int16 temperature",
    "MotorState": "uint8 mode\nfloat32 q\nfloat32 dq\nfloat32 ddq\nfloat32 tau_est\nint16[2] temperature\n"
    "float32 vol\nuint32[2] sensor\nuint32 motorstate\nuint32[4] reserve",
    "LowState": "uint32[2] version\nuint8 mode_pr\nuint8 mode_machine\nuint32 tick\nIMUState imu_state\n"
    "MotorState[35] motor_state\nuint8[40] wireless_remote\nuint32[4] reserve\nuint32 crc",
}
API_TYPES = {
    "RequestIdentity": "int64 id\nint64 api_id",
    "RequestLease": "int64 id",
    "RequestPolicy": "int32 priority\nbool noreply",
    "RequestHeader": "RequestIdentity identity\nRequestLease lease\nRequestPolicy policy",
    "Request": "RequestHeader header\nstring parameter\nuint8[] binary",
    "ResponseStatus": "int32 code",
    "ResponseHeader": "RequestIdentity identity\nResponseStatus status",
    "Response": "ResponseHeader header\nstring data\nint8[] binary",
}
# formats of the C structs; None: no checksum
FORMATS = {
    "unitree_go/msg/LowCmd": "<4B4IH2x" + "B3x5f3I" * 20 + "4B" + "55Bx2I",
    "unitree_go/msg/LowState": "<4B4IH2x" + "13fb3x" + "B3x7fb3x3I" * 20 + "4BiH4b15H" + "8hI41B3xf2b2x2f4h2I",
    "unitree_hg/msg/LowCmd": "<2B2x" + "B3x5fI" * 35 + "5I",
    "unitree_hg/msg/LowState": "<2I2B2xI" + "13fh2x" + "B3x4f2hf7I" * 35 + "40B5I",
    "unitree_go/msg/SportModeState": None,
    "unitree_go/msg/WirelessController": None,
    "unitree_api/msg/Request": None,
    "unitree_api/msg/Response": None,
    "unitree_hg/msg/IMUState": None,
}

store = get_typestore(Stores.ROS2_JAZZY)
for package, types in [("unitree_go", TYPES), ("unitree_hg", HG_TYPES), ("unitree_api", API_TYPES)]:
    for name, text in types.items():
        store.register(get_types_from_msg(text, f"{package}/msg/{name}"))
counter = 0


def fill(name):
    return store.types[name](*[value(kind) for _, kind in store.fielddefs[name][1]])


def value(kind):
    """No two neighbours are the same."""
    global counter
    node, what = int(kind[0]), kind[1]
    counter += 1
    if node == 2:
        return fill(what)
    if node == 1:
        if what[0] in ("string", "bool"):
            return f"text {counter}" if what[0] == "string" else True
        return counter + 0.25 if what[0].startswith("float") else counter % 127
    element, count = what
    count = count or 3
    if int(element[0]) == 1:
        return numpy.array([value(element) for _ in range(count)], dtype=element[1][0])
    return [value(element) for _ in range(count)]


def flat(message):
    for name in message.__dataclass_fields__:
        x = getattr(message, name)
        if name == "__msgtype__":
            continue
        for y in x if isinstance(x, (list, numpy.ndarray)) else [x]:
            if hasattr(y, "__dataclass_fields__"):
                yield from flat(y)
            else:
                yield y.item() if hasattr(y, "item") else y


def crc32_core(words):
    crc = 0xFFFFFFFF
    for word in words:
        bit = 1 << 31
        for _ in range(32):
            crc = ((crc << 1) ^ (0x04C11DB7 if crc & 0x80000000 else 0)) & 0xFFFFFFFF
            if word & bit:
                crc ^= 0x04C11DB7
            bit >>= 1
    return crc


out = {}
for kind, layout in FORMATS.items():
    message = fill(kind)
    if layout:
        packed = struct.pack(layout, *flat(message))
        message.crc = crc32_core(struct.unpack(f"<{len(packed) // 4 - 1}I", packed[:-4]))
    definition, _ = store.generate_msgdef(kind, ros_version=2)
    out[kind] = {"hash": store.hash_rihs01(kind), "definition": definition,
                 "message": store.serialize_cdr(message, kind).tobytes().hex()}
print(json.dumps(out, indent=1))
