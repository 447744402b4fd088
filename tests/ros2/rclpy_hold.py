"""A node on ROS 2's own rclpy and Fast DDS, which PyPI has: it joins by the service, answers each state with its stamp,
and says what it has heard. `.ci/rclpy` runs it in lockstep with the daemon.

    python3 tests/ros2/rclpy_hold.py STATES
"""

import sys

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String
from std_srvs.srv import SetBool


class Hold(Node):
    def __init__(self):
        super().__init__("hold", parameter_overrides=[Parameter("use_sim_time", value=True)])
        self.initial = None
        self.heard = {"states": 0, "imu": 0, "urdf": 0}
        self.stamps = []
        self.commands = self.create_publisher(JointState, "joint_commands", 10)
        self.create_subscription(JointState, "joint_states", self.answer, 10)
        self.create_subscription(Imu, "imu/data", self.note_imu, qos_profile_sensor_data)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(String, "robot_description", self.note_urdf, latched)
        self.join = self.create_client(SetBool, "hardstand/join")

    def answer(self, state):
        """Set-points that depend on what was measured."""
        if self.initial is None:
            self.initial = list(state.position)
        self.heard["states"] += 1
        self.stamps.append(state.header.stamp.sec * 10**9 + state.header.stamp.nanosec)
        position = [q + 0.125 * (q - measured) for q, measured in zip(self.initial, state.position)]
        self.commands.publish(JointState(header=state.header, name=state.name, position=position))

    def note_imu(self, message):
        self.heard["imu"] += 1
        self.up = message.linear_acceleration.z

    def note_urdf(self, message):
        self.heard["urdf"] += "<robot" in message.data


def main():
    rclpy.init()
    node = Hold()
    assert node.join.wait_for_service(timeout_sec=60.0), "no service hardstand/join"
    joined = node.join.call_async(SetBool.Request(data=True))
    rclpy.spin_until_future_complete(node, joined, timeout_sec=60.0)
    assert joined.result().success, joined.result()
    last = (int(sys.argv[1]) - 1) * 10**6
    while not node.stamps or node.stamps[-1] < last:
        rclpy.spin_once(node, timeout_sec=60.0)
    # the last answer may have been lost
    for _ in range(20):
        rclpy.spin_once(node, timeout_sec=0.05)
    order = sorted({stamp for stamp in node.stamps if stamp <= last})
    assert order == list(range(order[0], last + 1, 10**6)), "a state for each millisecond"
    assert node.heard["imu"] > 0 and node.heard["urdf"] == 1, node.heard
    assert 9.0 < node.up < 10.6, node.up
    clock_ns = node.get_clock().now().nanoseconds
    assert abs(clock_ns - last) < 10**9, f"the clock shows {clock_ns} ns"
    topics = dict(node.get_topic_names_and_types())
    assert topics["/joint_states"] == ["sensor_msgs/msg/JointState"], topics
    print("heard", node.heard, "Done!", flush=True)


main()
