"""Unitree's messages for PyPI `cyclonedds`, from the fields in `unitree_go`, `unitree_hg` and
`unitree_api`, and the checksum of the C structs."""
import struct
from dataclasses import dataclass, field

from cyclonedds.idl import IdlStruct, types as t

F3, F4 = t.array[t.float32, 3], t.array[t.float32, 4]


def zeros(count):
    return field(default_factory=lambda: [0] * count)


def many(kind, count):
    return field(default_factory=lambda: [kind() for _ in range(count)])


@dataclass
class MotorCmd(IdlStruct, typename="unitree_go.msg.dds_.MotorCmd_"):
    mode: t.uint8 = 0
    q: t.float32 = 0.0
    dq: t.float32 = 0.0
    tau: t.float32 = 0.0
    kp: t.float32 = 0.0
    kd: t.float32 = 0.0
    reserve: t.array[t.uint32, 3] = zeros(3)


@dataclass
class BmsCmd(IdlStruct, typename="unitree_go.msg.dds_.BmsCmd_"):
    off: t.uint8 = 0
    reserve: t.array[t.uint8, 3] = zeros(3)


@dataclass
class LowCmd(IdlStruct, typename="unitree_go.msg.dds_.LowCmd_"):
    head: t.array[t.uint8, 2] = zeros(2)
    level_flag: t.uint8 = 0
    frame_reserve: t.uint8 = 0
    sn: t.array[t.uint32, 2] = zeros(2)
    version: t.array[t.uint32, 2] = zeros(2)
    bandwidth: t.uint16 = 0
    motor_cmd: t.array[MotorCmd, 20] = many(MotorCmd, 20)
    bms_cmd: BmsCmd = field(default_factory=BmsCmd)
    wireless_remote: t.array[t.uint8, 40] = zeros(40)
    led: t.array[t.uint8, 12] = zeros(12)
    fan: t.array[t.uint8, 2] = zeros(2)
    gpio: t.uint8 = 0
    reserve: t.uint32 = 0
    crc: t.uint32 = 0

    def packed(self):
        parts = [struct.pack("<4B4IH2x", *self.head, self.level_flag, self.frame_reserve,
                             *self.sn, *self.version, self.bandwidth)]
        parts += [struct.pack("<B3x5f3I", m.mode, m.q, m.dq, m.tau, m.kp, m.kd, *m.reserve)
                  for m in self.motor_cmd]
        parts.append(struct.pack("<4B55BxI", self.bms_cmd.off, *self.bms_cmd.reserve,
                                 *self.wireless_remote, *self.led, *self.fan, self.gpio,
                                 self.reserve))
        return b"".join(parts)


@dataclass
class IMUState(IdlStruct, typename="unitree_go.msg.dds_.IMUState_"):
    quaternion: F4
    gyroscope: F3
    accelerometer: F3
    rpy: F3
    temperature: t.int8


@dataclass
class MotorState(IdlStruct, typename="unitree_go.msg.dds_.MotorState_"):
    mode: t.uint8
    q: t.float32
    dq: t.float32
    ddq: t.float32
    tau_est: t.float32
    q_raw: t.float32
    dq_raw: t.float32
    ddq_raw: t.float32
    temperature: t.int8
    lost: t.uint32
    reserve: t.array[t.uint32, 2]


@dataclass
class BmsState(IdlStruct, typename="unitree_go.msg.dds_.BmsState_"):
    version_high: t.uint8
    version_low: t.uint8
    status: t.uint8
    soc: t.uint8
    current: t.int32
    cycle: t.uint16
    bq_ntc: t.array[t.int8, 2]
    mcu_ntc: t.array[t.int8, 2]
    cell_vol: t.array[t.uint16, 15]


@dataclass
class LowState(IdlStruct, typename="unitree_go.msg.dds_.LowState_"):
    head: t.array[t.uint8, 2]
    level_flag: t.uint8
    frame_reserve: t.uint8
    sn: t.array[t.uint32, 2]
    version: t.array[t.uint32, 2]
    bandwidth: t.uint16
    imu_state: IMUState
    motor_state: t.array[MotorState, 20]
    bms_state: BmsState
    foot_force: t.array[t.int16, 4]
    foot_force_est: t.array[t.int16, 4]
    tick: t.uint32
    wireless_remote: t.array[t.uint8, 40]
    bit_flag: t.uint8
    adc_reel: t.float32
    temperature_ntc1: t.int8
    temperature_ntc2: t.int8
    power_v: t.float32
    power_a: t.float32
    fan_frequency: t.array[t.uint16, 4]
    reserve: t.uint32
    crc: t.uint32


@dataclass
class HgMotorCmd(IdlStruct, typename="unitree_hg.msg.dds_.MotorCmd_"):
    mode: t.uint8 = 0
    q: t.float32 = 0.0
    dq: t.float32 = 0.0
    tau: t.float32 = 0.0
    kp: t.float32 = 0.0
    kd: t.float32 = 0.0
    reserve: t.uint32 = 0


@dataclass
class HgLowCmd(IdlStruct, typename="unitree_hg.msg.dds_.LowCmd_"):
    mode_pr: t.uint8 = 0
    mode_machine: t.uint8 = 0
    motor_cmd: t.array[HgMotorCmd, 35] = many(HgMotorCmd, 35)
    reserve: t.array[t.uint32, 4] = zeros(4)
    crc: t.uint32 = 0

    def packed(self):
        parts = [struct.pack("<2B2x", self.mode_pr, self.mode_machine)]
        parts += [struct.pack("<B3x5fI", m.mode, m.q, m.dq, m.tau, m.kp, m.kd, m.reserve)
                  for m in self.motor_cmd]
        parts.append(struct.pack("<4I", *self.reserve))
        return b"".join(parts)


@dataclass
class HgIMUState(IdlStruct, typename="unitree_hg.msg.dds_.IMUState_"):
    quaternion: F4
    gyroscope: F3
    accelerometer: F3
    rpy: F3
    temperature: t.int16


@dataclass
class HgMotorState(IdlStruct, typename="unitree_hg.msg.dds_.MotorState_"):
    mode: t.uint8
    q: t.float32
    dq: t.float32
    ddq: t.float32
    tau_est: t.float32
    temperature: t.array[t.int16, 2]
    vol: t.float32
    sensor: t.array[t.uint32, 2]
    motorstate: t.uint32
    reserve: t.array[t.uint32, 4]


@dataclass
class HgLowState(IdlStruct, typename="unitree_hg.msg.dds_.LowState_"):
    version: t.array[t.uint32, 2]
    mode_pr: t.uint8
    mode_machine: t.uint8
    tick: t.uint32
    imu_state: HgIMUState
    motor_state: t.array[HgMotorState, 35]
    wireless_remote: t.array[t.uint8, 40]
    reserve: t.array[t.uint32, 4]
    crc: t.uint32

    def packed(self):
        imu = self.imu_state
        parts = [struct.pack("<2I2B2xI", *self.version, self.mode_pr, self.mode_machine, self.tick),
                 struct.pack("<13fh2x", *imu.quaternion, *imu.gyroscope, *imu.accelerometer,
                             *imu.rpy, imu.temperature)]
        parts += [struct.pack("<B3x4f2hf7I", m.mode, m.q, m.dq, m.ddq, m.tau_est, *m.temperature,
                              m.vol, *m.sensor, m.motorstate, *m.reserve)
                  for m in self.motor_state]
        parts.append(struct.pack("<40B4I", *self.wireless_remote, *self.reserve))
        return b"".join(parts)


@dataclass
class RequestIdentity(IdlStruct, typename="unitree_api.msg.dds_.RequestIdentity_"):
    id: t.int64
    api_id: t.int64


@dataclass
class RequestLease(IdlStruct, typename="unitree_api.msg.dds_.RequestLease_"):
    id: t.int64


@dataclass
class RequestPolicy(IdlStruct, typename="unitree_api.msg.dds_.RequestPolicy_"):
    priority: t.int32
    noreply: bool


@dataclass
class RequestHeader(IdlStruct, typename="unitree_api.msg.dds_.RequestHeader_"):
    identity: RequestIdentity
    lease: RequestLease
    policy: RequestPolicy


@dataclass
class Request(IdlStruct, typename="unitree_api.msg.dds_.Request_"):
    header: RequestHeader
    parameter: str
    binary: t.sequence[t.uint8]


@dataclass
class ResponseStatus(IdlStruct, typename="unitree_api.msg.dds_.ResponseStatus_"):
    code: t.int32


@dataclass
class ResponseHeader(IdlStruct, typename="unitree_api.msg.dds_.ResponseHeader_"):
    identity: RequestIdentity
    status: ResponseStatus


@dataclass
class Response(IdlStruct, typename="unitree_api.msg.dds_.Response_"):
    header: ResponseHeader
    data: str
    binary: t.sequence[t.uint8]


def table():
    out = []
    for i in range(256):
        c = i << 24
        for _ in range(8):
            c = (c << 1) ^ 0x04C11DB7 if c & 0x80000000 else c << 1
        out.append(c & 0xFFFFFFFF)
    return out


TABLE = table()


def crc(message):
    """CRC-32/MPEG-2 over the words of the C struct, the highest byte first."""
    packed, c = message.packed(), 0xFFFFFFFF
    for i in range(0, len(packed), 4):
        for byte in reversed(packed[i:i + 4]):
            c = ((c << 8) & 0xFFFFFFFF) ^ TABLE[(c >> 24) ^ byte]
    return c
