"""Writes vectors.json: for each message type its RIHS01 hash, its definition and one encoded message, made with
PyPI rosbags (0.11.9) alone.

    pip install rosbags==0.11.9 && python3 tests/ros2/vectors.py > tests/ros2/vectors.json

rosbags bundles the definitions of Jazzy's core packages. The others stand here, without comments and constants, which
count for neither bytes nor hash: control_msgs from github.com/ros-controls/control_msgs (the same fields from humble to
master), ros_gz_interfaces from github.com/gazebosim/ros_gz, branch jazzy.
"""
import json

import numpy
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

MORE = {
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values",
    "control_msgs/msg/DynamicJointState": "std_msgs/Header header\nstring[] joint_names\n"
    "InterfaceValue[] interface_values",
    "ros_gz_interfaces/msg/Entity": "uint64 id\nstring name\nuint8 type",
    "ros_gz_interfaces/msg/JointWrench": "std_msgs/Header header\nstd_msgs/String body_1_name\n"
    "std_msgs/UInt32 body_1_id\nstd_msgs/String body_2_name\nstd_msgs/UInt32 body_2_id\n"
    "geometry_msgs/Wrench body_1_wrench\ngeometry_msgs/Wrench body_2_wrench",
    "ros_gz_interfaces/msg/Contact": "ros_gz_interfaces/Entity collision1\nros_gz_interfaces/Entity collision2\n"
    "geometry_msgs/Vector3[] positions\ngeometry_msgs/Vector3[] normals\nfloat64[] depths\n"
    "ros_gz_interfaces/JointWrench[] wrenches",
    "ros_gz_interfaces/msg/Contacts": "std_msgs/Header header\nros_gz_interfaces/Contact[] contacts",
}
TYPES = [
    "rosgraph_msgs/msg/Clock", "sensor_msgs/msg/JointState", "sensor_msgs/msg/Imu",
    "geometry_msgs/msg/WrenchStamped", "ros_gz_interfaces/msg/Contacts", "std_msgs/msg/Bool",
    "nav_msgs/msg/Odometry", "tf2_msgs/msg/TFMessage", "std_msgs/msg/String",
    "diagnostic_msgs/msg/DiagnosticArray", "control_msgs/msg/DynamicJointState",
    "std_msgs/msg/Float64MultiArray", "trajectory_msgs/msg/JointTrajectory",
    "geometry_msgs/msg/Twist", "sensor_msgs/msg/Joy",
]

store = get_typestore(Stores.ROS2_JAZZY)
for name, text in MORE.items():
    store.register(get_types_from_msg(text, name))
counter = 0


def fill(name):
    """A message in which no two values are the same, texts have every length modulo 4, sequences 0 to 2 elements."""
    return store.types[name](*[value(kind) for _, kind in store.fielddefs[name][1]])


def value(kind):
    global counter
    node, what = int(kind[0]), kind[1]
    counter += 1
    if node == 2:
        return fill(what)
    if node == 1:
        if what[0] == "string":
            return "s" * (counter % 5) + str(counter)
        if what[0] == "bool":
            return True
        return counter + 0.25 if what[0].startswith("float") else counter % 127
    element, count = what
    count = count if node == 3 else counter % 3
    if int(element[0]) == 1 and element[1][0] != "string":
        return numpy.array([value(element) for _ in range(count)], dtype=element[1][0])
    return [value(element) for _ in range(count)]


vectors = {}
for name in TYPES:
    messages = []
    # three times, so that every sequence once has each length
    for _ in range(3):
        messages.append(store.serialize_cdr(fill(name), name).tobytes().hex())
        counter += 1
    definition, _ = store.generate_msgdef(name, ros_version=2)
    vectors[name] = {"hash": store.hash_rihs01(name), "definition": definition, "messages": messages}
print(json.dumps(vectors, indent=1))
