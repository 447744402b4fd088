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
}
FORMATS = {
    "LowCmd": "<4B4IH2x" + "B3x5f3I" * 20 + "4B" + "55Bx2I",
    "LowState": "<4B4IH2x" + "13fb3x" + "B3x7fb3x3I" * 20 + "4BiH4b15H" + "8hI41B3xf2b2x2f4h2I",
}

store = get_typestore(Stores.ROS2_JAZZY)
for name, text in TYPES.items():
    store.register(get_types_from_msg(text, f"unitree_go/msg/{name}"))
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
        return counter + 0.25 if what[0].startswith("float") else counter % 127
    element, count = what
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
for name in FORMATS:
    kind = f"unitree_go/msg/{name}"
    message = fill(kind)
    packed = struct.pack(FORMATS[name], *flat(message))
    message.crc = crc32_core(struct.unpack(f"<{len(packed) // 4 - 1}I", packed[:-4]))
    definition, _ = store.generate_msgdef(kind, ros_version=2)
    out[kind] = {"hash": store.hash_rihs01(kind), "definition": definition,
                 "message": store.serialize_cdr(message, kind).tobytes().hex()}
print(json.dumps(out, indent=1))
