"""Reads logs of a quadruped with PyPI rosbags and mcap-ros2-support, which share no line with the recorder, and holds
what they find against docs/ros2.md and against each other.

    python3 tests/python/log.py [--standing] LOG...

Each log is one file of a run. With --standing, the robot must stand at its end.
"""
import collections
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability
from rosbags.typesys import Stores, get_typestore

FEET = ["FL", "FR", "RL", "RR"]
# the rates that "auto" gives at 1 kHz
TOPICS = {
    "/clock": ("rosgraph_msgs/msg/Clock", 1000),
    "/joint_states": ("sensor_msgs/msg/JointState", 500),
    "/dynamic_joint_states": ("control_msgs/msg/DynamicJointState", 100),
    "/imu/data": ("sensor_msgs/msg/Imu", 500),
    "/contacts": ("ros_gz_interfaces/msg/Contacts", 100),
    "/ground_truth/odom": ("nav_msgs/msg/Odometry", 100),
    "/tf": ("tf2_msgs/msg/TFMessage", 100),
    "/velocity_command": ("geometry_msgs/msg/Twist", 50),
}
TOPICS |= {f"/feet/{foot}/wrench": ("geometry_msgs/msg/WrenchStamped", 250) for foot in FEET}
TOPICS |= {f"/feet/{foot}/contact": ("std_msgs/msg/Bool", 100) for foot in FEET}
LATCHED = {"/robot_description": "std_msgs/msg/String", "/tf_static": "tf2_msgs/msg/TFMessage"}
EVENTS = "hardstand/events"
OWN = {"hardstand/tick": "LogTick", "hardstand/state": "State", "hardstand/keyframe": "Keyframe",
       "hardstand/chain": "LogLink"}
FRAMES = {"/joint_states": "", "/dynamic_joint_states": "", "/imu/data": "trunk", "/contacts": "odom",
          "/ground_truth/odom": "odom"} | {f"/feet/{foot}/wrench": f"{foot}_foot" for foot in FEET}
PERIOD_NS = 1_000_000


def ns(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def plain(value):
    """A message of either reader as numbers, texts and lists."""
    if hasattr(value, "__dataclass_fields__"):
        names = [n for n in value.__dataclass_fields__ if n != "__msgtype__"]
        return {n: plain(getattr(value, n)) for n in names}
    if hasattr(value, "__slots__") and not isinstance(value, (str, bytes, int, float)):
        return {n: plain(getattr(value, n)) for n in value.__slots__ if not n.startswith("_")}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(v) for v in value] if isinstance(value, (list, tuple, bytes)) else value


def by_mcap(path):
    found, types = collections.defaultdict(list), {}
    with open(path, "rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        # as one reads any log of ROS 2: nothing is filtered
        for schema, channel, message, decoded in reader.iter_decoded_messages():
            types[channel.topic] = schema.name
            found[channel.topic].append((message.log_time, decoded))
        channels = reader.get_summary().channels.values()
        metadata = {c.topic: c.metadata for c in channels}
        robot = [a.data.decode() for a in reader.iter_attachments() if a.name == "robot.urdf"]
    return found, types, metadata, robot[0]


def by_rosbags(path):
    found = collections.defaultdict(list)
    with AnyReader([Path(path)]) as reader:
        for connection, time_ns, raw in reader.messages():
            found[connection.topic].append((time_ns, reader.deserialize(raw, connection.msgtype)))
        for connection in reader.connections:
            assert connection.msgcount == len(found[connection.topic]), connection
        return found, reader.connections[:], reader.typestore


def check_types(connections, store, types, metadata):
    expected = {t: kind for t, (kind, _) in TOPICS.items()} | LATCHED
    expected |= {t: f"hardstand_msgs/msg/{kind}" for t, kind in OWN.items()}
    # logs of a daemon have them; where nothing has happened, the channel is empty
    of_connections, events = {c.topic: c.msgtype for c in connections}, {EVENTS: "std_msgs/msg/String"}
    assert of_connections | events == expected | events, of_connections
    assert types | events == expected | events, types
    jazzy = get_typestore(Stores.ROS2_JAZZY)
    for connection in connections:
        topic, kind = connection.topic, connection.msgtype
        if topic in OWN:
            continue
        if kind in jazzy.fielddefs:
            assert store.fielddefs[kind][1] == jazzy.fielddefs[kind][1], kind
        assert store.hash_rihs01(kind) == metadata[topic]["topic_type_hash"], kind
        (qos,) = connection.ext.offered_qos_profiles
        wanted = QosDurability.TRANSIENT_LOCAL if topic in LATCHED else QosDurability.VOLATILE
        assert (qos.durability, qos.depth) == (wanted, 1 if topic in LATCHED else 10), (topic, qos)
        assert (qos.history.name, qos.reliability.name) == ("KEEP_LAST", "RELIABLE"), (topic, qos)


def check_times(found):
    """Every tick has a state; each topic has a message for each tick that is a multiple, and no other."""
    # kind, layout hash, run, tick: docs/protocol.md
    states = [bytes(m.payload) for _, m in found["hardstand/state"]]
    ticks = [int.from_bytes(s[16:24], "little") for s in states]
    assert ticks == list(range(ticks[0], ticks[0] + len(ticks))), "ticks are missing"
    for topic, (_, rate_hz) in TOPICS.items():
        every = 1000 // rate_hz
        due = [tick * PERIOD_NS for tick in ticks if tick % every == 0]
        assert [t for t, _ in found[topic]] == due, f"{topic}: {len(found[topic])} messages, {len(due)} due"
        for time_ns, message in found[topic]:
            stamps = [ns(message.header.stamp)] if hasattr(message, "header") else []
            stamps += [ns(message.clock)] if topic == "/clock" else []
            stamps += [ns(t.header.stamp) for t in message.transforms] if topic == "/tf" else []
            assert stamps == [time_ns] * len(stamps), f"{topic}: {stamps} in a message of {time_ns}"
            if topic in FRAMES:
                assert message.header.frame_id == FRAMES[topic], (topic, message.header.frame_id)
    for topic in LATCHED:
        assert [t for t, _ in found[topic]] == [(ticks[0] - 1) * PERIOD_NS], topic
    return len(ticks)


def check_robot(found, robot):
    (_, description), = found["/robot_description"]
    assert description.data == robot
    joints = [j.get("name") for j in tree.fromstring(robot).iter("joint") if j.get("type") == "revolute"]
    _, state = found["/joint_states"][-1]
    assert list(state.name) == joints and len(state.effort) == 12, state.name
    _, dynamic = found["/dynamic_joint_states"][-1]
    assert list(dynamic.joint_names) == joints
    interfaces = ["position", "velocity", "effort", "proportional", "derivative"]
    interfaces += ["command_position", "command_velocity", "command_effort"]
    assert all(list(v.interface_names) == interfaces for v in dynamic.interface_values), dynamic
    (_, fixed), = found["/tf_static"]
    _, moving = found["/tf"][-1]
    edges = [(t.child_frame_id, t.header.frame_id) for t in [*moving.transforms, *fixed.transforms]]
    parents = dict(edges)
    assert len(parents) == len(edges), "a frame with two parents"
    links = [link.get("name") for link in tree.fromstring(robot).iter("link")]
    for at in links:
        while at in parents:
            at = parents[at]
        assert at == "odom", at


def check_standing(found, robot):
    weight_n = 9.81 * sum(float(m.get("value")) for m in tree.fromstring(robot).iter("mass"))
    _, imu = found["/imu/data"][-1]
    assert abs(imu.linear_acceleration.z - 9.81) < 0.3 and imu.orientation.w > 0.99, imu
    forces = [found[f"/feet/{foot}/wrench"][-1][1].wrench.force for foot in FEET]
    sum_n = sum((f.x**2 + f.y**2 + f.z**2) ** 0.5 for f in forces)
    assert abs(sum_n / weight_n - 1) < 0.15, f"the feet carry {sum_n} N of {weight_n} N"
    assert all(found[f"/feet/{foot}/contact"][-1][1].data for foot in FEET)
    _, contacts = found["/contacts"][-1]
    up_n = sum(c.wrenches[0].body_1_wrench.force.z for c in contacts.contacts)
    assert abs(up_n / weight_n - 1) < 0.1, f"the ground carries {up_n} N of {weight_n} N"
    _, odometry = found["/ground_truth/odom"][-1]
    assert 0.25 < odometry.pose.pose.position.z < 0.4, odometry


def main():
    paths = [a for a in sys.argv[1:] if a != "--standing"]
    for path in paths:
        found, types, metadata, robot = by_mcap(path)
        same, connections, store = by_rosbags(path)
        check_types(connections, store, types, metadata)
        assert found.keys() | {EVENTS} == same.keys() | {EVENTS}
        for topic, messages in found.items():
            assert len(messages) == len(same[topic]), topic
            for (time_a, a), (time_b, b) in list(zip(messages, same[topic]))[::37]:
                assert (time_a, plain(a)) == (time_b, plain(b)), f"{topic}: {a} and {b}"
        ticks = check_times(found)
        check_robot(found, robot)
        if "--standing" in sys.argv:
            check_standing(found, robot)
        print(f"{path}: {ticks} ticks, {sum(map(len, found.values()))} messages are as described")


main()
