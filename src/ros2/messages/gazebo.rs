//! `ros_gz_interfaces` (gazebosim/ros_gz, branch jazzy).

use super::{Header, RosString, UInt32, Vector3, Wrench};
use crate::ros2::field::structs;

structs! {
    /// An entity in the world.
    Entity is "ros_gz_interfaces/Entity" {
        /// Number; 0: no number.
        id: u64,
        /// Name.
        name: String,
        /// 3 a link, 5 a collision shape.
        r#type: u8,
    }
    /// Forces on two bodies that touch.
    JointWrench is "ros_gz_interfaces/JointWrench" {
        /// Time and frame.
        header: Header,
        /// First body.
        body_1_name: RosString,
        /// Its number.
        body_1_id: UInt32,
        /// Second body.
        body_2_name: RosString,
        /// Its number.
        body_2_id: UInt32,
        /// On the first body.
        body_1_wrench: Wrench,
        /// On the second body.
        body_2_wrench: Wrench,
    }
    /// Two shapes that touch.
    Contact is "ros_gz_interfaces/Contact" {
        /// The robot's shape.
        collision1: Entity,
        /// The ground's.
        collision2: Entity,
        /// m.
        positions: Vec<Vector3>,
        /// Unit normals, from the second shape to the first.
        normals: Vec<Vector3>,
        /// Penetration depths, m.
        depths: Vec<f64>,
        /// One per position.
        wrenches: Vec<JointWrench>,
    }
    /// All contacts.
    Contacts is "ros_gz_interfaces/Contacts" {
        /// Time and frame.
        header: Header,
        /// One entry per pair of shapes.
        contacts: Vec<Contact>,
    }
}
