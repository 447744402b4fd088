//! `unitree_go/msg`: state of the body, and the remote control.

use super::messages::ImuState;
use crate::ros2::field::structs;
use crate::ros2::messages::Message;

structs! {
    /// A time.
    TimeSpec is "unitree_go/TimeSpec" {
        /// s.
        sec: i32,
        /// ns.
        nanosec: u32,
    }
    /// A point of a path.
    PathPoint is "unitree_go/PathPoint" {
        /// s.
        t_from_start: f32,
        /// m.
        x: f32,
        /// m.
        y: f32,
        /// rad.
        yaw: f32,
        /// m/s.
        vx: f32,
        /// m/s.
        vy: f32,
        /// rad/s.
        vyaw: f32,
    }
    /// State of the body.
    SportModeState is "unitree_go/SportModeState" {
        /// Simulated time.
        stamp: TimeSpec,
        /// 0.
        error_code: u32,
        /// Inertial measurement unit.
        imu_state: ImuState,
        /// Motion.
        mode: u8,
        /// 0 to 1.
        progress: f32,
        /// Gait.
        gait_type: u8,
        /// m.
        foot_raise_height: f32,
        /// In the world, m.
        position: [f32; 3],
        /// m.
        body_height: f32,
        /// In the base's axes, m/s.
        velocity: [f32; 3],
        /// rad/s.
        yaw_speed: f32,
        /// m.
        range_obstacle: [f32; 4],
        /// N.
        foot_force: [i16; 4],
        /// m.
        foot_position_body: [f32; 12],
        /// m/s.
        foot_speed_body: [f32; 12],
        /// The path to follow.
        path_point: [PathPoint; 10],
    }
    /// The sticks and keys of the remote control.
    WirelessController is "unitree_go/WirelessController" {
        /// Left stick to the right, −1 to 1.
        lx: f32,
        /// Left stick forward.
        ly: f32,
        /// Right stick to the right.
        rx: f32,
        /// Right stick forward.
        ry: f32,
        /// Bits.
        keys: u16,
    }
}

// tests/ros2/unitree.py compares this with PyPI rosbags
impl Message for SportModeState {
    const HASH: &'static str =
        "RIHS01_7d3781915b5ceeb8cc27a93ea5cfd389a3590e315a436f19bccef6fa682de213";
    const NAME: &'static str = "unitree_go/msg/SportModeState";
}

impl Message for WirelessController {
    const HASH: &'static str =
        "RIHS01_83a5bbbf022f060aa36716ee78afb802528f26ce16238b9c3787939c830cbde5";
    const NAME: &'static str = "unitree_go/msg/WirelessController";
}
