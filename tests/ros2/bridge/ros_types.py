"""ROS 2 messages as types of DDS, from their definitions alone: names as rmw mangles them, plain CDR.

Requests and answers of services begin with what rmw_cyclonedds puts before them: client and number.
"""

import cyclonedds.idl as idl
import cyclonedds.idl.annotations as annotations
import cyclonedds.idl.types as types

DEFINITIONS = """
builtin_interfaces/Time: int32 sec, uint32 nanosec
builtin_interfaces/Duration: int32 sec, uint32 nanosec
std_msgs/Header: builtin_interfaces/Time stamp, string frame_id
std_msgs/Bool: bool data
std_msgs/String: string data
std_msgs/UInt32: uint32 data
std_msgs/MultiArrayDimension: string label, uint32 size, uint32 stride
std_msgs/MultiArrayLayout: std_msgs/MultiArrayDimension[] dim, uint32 data_offset
std_msgs/Float64MultiArray: std_msgs/MultiArrayLayout layout, float64[] data
rosgraph_msgs/Clock: builtin_interfaces/Time clock
geometry_msgs/Vector3: float64 x, float64 y, float64 z
geometry_msgs/Point: float64 x, float64 y, float64 z
geometry_msgs/Quaternion: float64 x, float64 y, float64 z, float64 w
geometry_msgs/Pose: geometry_msgs/Point position, geometry_msgs/Quaternion orientation
geometry_msgs/PoseWithCovariance: geometry_msgs/Pose pose, float64[36] covariance
geometry_msgs/Twist: geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular
geometry_msgs/TwistWithCovariance: geometry_msgs/Twist twist, float64[36] covariance
geometry_msgs/Wrench: geometry_msgs/Vector3 force, geometry_msgs/Vector3 torque
geometry_msgs/WrenchStamped: std_msgs/Header header, geometry_msgs/Wrench wrench
geometry_msgs/Transform: geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation
geometry_msgs/TransformStamped: std_msgs/Header header, string child_frame_id, geometry_msgs/Transform transform
tf2_msgs/TFMessage: geometry_msgs/TransformStamped[] transforms
nav_msgs/Odometry: std_msgs/Header header, string child_frame_id, geometry_msgs/PoseWithCovariance pose, geometry_msgs/TwistWithCovariance twist
sensor_msgs/JointState: std_msgs/Header header, string[] name, float64[] position, float64[] velocity, float64[] effort
sensor_msgs/Imu: std_msgs/Header header, geometry_msgs/Quaternion orientation, float64[9] orientation_covariance, geometry_msgs/Vector3 angular_velocity, float64[9] angular_velocity_covariance, geometry_msgs/Vector3 linear_acceleration, float64[9] linear_acceleration_covariance
trajectory_msgs/JointTrajectoryPoint: float64[] positions, float64[] velocities, float64[] accelerations, float64[] effort, builtin_interfaces/Duration time_from_start
trajectory_msgs/JointTrajectory: std_msgs/Header header, string[] joint_names, trajectory_msgs/JointTrajectoryPoint[] points
control_msgs/InterfaceValue: string[] interface_names, float64[] values
control_msgs/DynamicJointState: std_msgs/Header header, string[] joint_names, control_msgs/InterfaceValue[] interface_values
diagnostic_msgs/KeyValue: string key, string value
diagnostic_msgs/DiagnosticStatus: uint8 level, string name, string message, string hardware_id, diagnostic_msgs/KeyValue[] values
diagnostic_msgs/DiagnosticArray: std_msgs/Header header, diagnostic_msgs/DiagnosticStatus[] status
ros_gz_interfaces/Entity: uint64 id, string name, uint8 type
ros_gz_interfaces/JointWrench: std_msgs/Header header, std_msgs/String body_1_name, std_msgs/UInt32 body_1_id, std_msgs/String body_2_name, std_msgs/UInt32 body_2_id, geometry_msgs/Wrench body_1_wrench, geometry_msgs/Wrench body_2_wrench
ros_gz_interfaces/Contact: ros_gz_interfaces/Entity collision1, ros_gz_interfaces/Entity collision2, geometry_msgs/Vector3[] positions, geometry_msgs/Vector3[] normals, float64[] depths, ros_gz_interfaces/JointWrench[] wrenches
ros_gz_interfaces/Contacts: std_msgs/Header header, ros_gz_interfaces/Contact[] contacts
unitree_go/MotorCmd: uint8 mode, float32 q, float32 dq, float32 tau, float32 kp, float32 kd, uint32[3] reserve
unitree_go/BmsCmd: uint8 off, uint8[3] reserve
unitree_go/LowCmd: uint8[2] head, uint8 level_flag, uint8 frame_reserve, uint32[2] sn, uint32[2] version, uint16 bandwidth, unitree_go/MotorCmd[20] motor_cmd, unitree_go/BmsCmd bms_cmd, uint8[40] wireless_remote, uint8[12] led, uint8[2] fan, uint8 gpio, uint32 reserve, uint32 crc
unitree_go/IMUState: float32[4] quaternion, float32[3] gyroscope, float32[3] accelerometer, float32[3] rpy, int8 temperature
unitree_go/MotorState: uint8 mode, float32 q, float32 dq, float32 ddq, float32 tau_est, float32 q_raw, float32 dq_raw, float32 ddq_raw, int8 temperature, uint32 lost, uint32[2] reserve
unitree_go/BmsState: uint8 version_high, uint8 version_low, uint8 status, uint8 soc, int32 current, uint16 cycle, int8[2] bq_ntc, int8[2] mcu_ntc, uint16[15] cell_vol
unitree_go/LowState: uint8[2] head, uint8 level_flag, uint8 frame_reserve, uint32[2] sn, uint32[2] version, uint16 bandwidth, unitree_go/IMUState imu_state, unitree_go/MotorState[20] motor_state, unitree_go/BmsState bms_state, int16[4] foot_force, int16[4] foot_force_est, uint32 tick, uint8[40] wireless_remote, uint8 bit_flag, float32 adc_reel, int8 temperature_ntc1, int8 temperature_ntc2, float32 power_v, float32 power_a, uint16[4] fan_frequency, uint32 reserve, uint32 crc
simulation_interfaces/Result: uint8 result, string error_message
std_srvs/srv/SetBool_Request: uint64 client, int64 number, bool data
std_srvs/srv/SetBool_Response: uint64 client, int64 number, bool success, string message
std_srvs/srv/Trigger_Request: uint64 client, int64 number, uint8 structure_needs_at_least_one_member
std_srvs/srv/Trigger_Response: uint64 client, int64 number, bool success, string message
simulation_interfaces/srv/StepSimulation_Request: uint64 client, int64 number, uint64 steps
simulation_interfaces/srv/StepSimulation_Response: uint64 client, int64 number, simulation_interfaces/Result result
rmw_dds_common/Gid: uint8[16] data
rmw_dds_common/NodeEntitiesInfo: string<=256 node_namespace, string<=256 node_name, rmw_dds_common/Gid[] reader_gid_seq, rmw_dds_common/Gid[] writer_gid_seq
rmw_dds_common/ParticipantEntitiesInfo: rmw_dds_common/Gid gid, rmw_dds_common/NodeEntitiesInfo[] node_entities_info_seq
"""

PLAIN = {
    "bool": bool,
    "uint8": types.uint8,
    "int8": types.int8,
    "int16": types.int16,
    "uint16": types.uint16,
    "int32": types.int32,
    "uint32": types.uint32,
    "int64": types.int64,
    "uint64": types.uint64,
    "float32": types.float32,
    "float64": types.float64,
    "string": str,
    "string<=256": types.bounded_str[256],
}


def make_types():
    made = dict(PLAIN)

    def typed(word):
        if not word.endswith("]"):
            return made[word]
        element, count = word[:-1].split("[")
        return types.array[made[element], int(count)] if count else types.sequence[made[element]]

    for line in DEFINITIONS.strip().splitlines():
        name, fields = line.split(": ")
        words = (field.split() for field in fields.split(", "))
        package, *space, kind = name.split("/")
        module = f"{package}::{space[0] if space else 'msg'}::dds_"
        made[name] = annotations.final(
            idl.make_idl_struct(kind, f"{module}::{kind}_", {n: typed(t) for t, n in words})
        )
    return made


TYPES = make_types()
FIELDS = {
    line.split(": ")[0]: [field.split() for field in line.split(": ")[1].split(", ")]
    for line in DEFINITIONS.strip().splitlines()
}


def message(name, values):
    """The message `name` with the values of a dictionary; what it lacks is zero or empty."""
    if name.endswith("]"):
        element, count = name[:-1].split("[")
        return [message(element, v) for v in (values or [0] * int(count or 0))]
    if name in FIELDS:
        given = values or {}
        return TYPES[name](**{field: message(kind, given.get(field)) for kind, field in FIELDS[name]})
    return values if values is not None else ("" if name.startswith("string") else 0)


def plain(value):
    """A message as dictionaries and lists."""
    if isinstance(value, (list, tuple, bytes)):
        return [plain(v) for v in value]
    if isinstance(value, idl.IdlStruct):
        return {field: plain(getattr(value, field)) for field in value.__dataclass_fields__}
    return value
