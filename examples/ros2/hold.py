"""A ROS 2 node that holds the robot's initial joint positions, in real time and in lockstep: each answer carries the
stamp of the state that it answers.

    hardstand run config/quadruped.toml --mode lockstep --pace free --duration 10
    RMW_IMPLEMENTATION=rmw_zenoh_cpp python3 examples/ros2/hold.py
"""
import rclpy
from control_msgs.msg import DynamicJointState, InterfaceValue
from rclpy.node import Node
from sensor_msgs.msg import JointState

INTERFACES = ["position", "velocity", "effort", "proportional", "derivative"]


class Hold(Node):
    def __init__(self):
        super().__init__("hold")
        self.positions = None
        self.commands = self.create_publisher(DynamicJointState, "dynamic_joint_commands", 10)
        self.states = self.create_subscription(JointState, "joint_states", self.answer, 10)

    def answer(self, state):
        if self.positions is None:
            self.positions = list(state.position)
        command = DynamicJointState()
        command.header.stamp = state.header.stamp
        command.joint_names = state.name
        command.interface_values = [
            InterfaceValue(interface_names=INTERFACES, values=[q, 0.0, 0.0, 100.0, 3.0]) for q in self.positions
        ]
        self.commands.publish(command)


rclpy.init()
rclpy.spin(Hold())
