//! `unitree_hg/msg` (github.com/unitreerobotics/unitree_ros2): humanoids such as the G1.

use crate::ros2::field::structs;
use crate::ros2::messages::Message;

/// Places for motors in a message.
const PLACES: usize = 35;

structs! {
    /// Command of one motor.
    HgMotorCmd is "unitree_hg/MotorCmd" {
        /// 0 off, 1 servo.
        mode: u8,
        /// rad.
        q: f32,
        /// rad/s.
        dq: f32,
        /// N·m.
        tau: f32,
        /// N·m/rad.
        kp: f32,
        /// N·m·s/rad.
        kd: f32,
        /// Reserved.
        reserve: u32,
    }
    /// Command of the robot.
    HgLowCmd is "unitree_hg/LowCmd" {
        /// 0: ankles and waist by pitch and roll; 1: by their parallel motors A and B.
        mode_pr: u8,
        /// Kind of the robot, as in its states.
        mode_machine: u8,
        /// Motors.
        motor_cmd: [HgMotorCmd; PLACES],
        /// Reserved.
        reserve: [u32; 4],
        /// Checksum of all bytes before it.
        crc: u32,
    }
    /// Readings of an inertial measurement unit.
    HgImuState is "unitree_hg/IMUState" {
        /// Orientation in the world, order w, x, y, z.
        quaternion: [f32; 4],
        /// rad/s.
        gyroscope: [f32; 3],
        /// m/s², +9.81 on z at rest.
        accelerometer: [f32; 3],
        /// Roll, pitch, yaw, rad.
        rpy: [f32; 3],
        /// °C.
        temperature: i16,
    }
    /// Readings of one motor.
    HgMotorState is "unitree_hg/MotorState" {
        /// 1 servo.
        mode: u8,
        /// rad.
        q: f32,
        /// rad/s.
        dq: f32,
        /// rad/s².
        ddq: f32,
        /// N·m.
        tau_est: f32,
        /// °C.
        temperature: [i16; 2],
        /// V.
        vol: f32,
        /// Raw.
        sensor: [u32; 2],
        /// Bits of errors.
        motorstate: u32,
        /// Reserved.
        reserve: [u32; 4],
    }
    /// Readings of the robot.
    HgLowState is "unitree_hg/LowState" {
        /// Version.
        version: [u32; 2],
        /// As in the command.
        mode_pr: u8,
        /// Kind of the robot.
        mode_machine: u8,
        /// ms.
        tick: u32,
        /// Inertial measurement unit.
        imu_state: HgImuState,
        /// Motors.
        motor_state: [HgMotorState; PLACES],
        /// Bytes of the remote control.
        wireless_remote: [u8; 40],
        /// Reserved.
        reserve: [u32; 4],
        /// Checksum of all bytes before it.
        crc: u32,
    }
}

// tests/ros2/unitree.py compares this with PyPI rosbags
impl Message for HgLowCmd {
    const HASH: &'static str =
        "RIHS01_b0eec4778db3ad67ffade328b063bea700bd1558f3f359ea5e4c86e3c3f25bc5";
    const NAME: &'static str = "unitree_hg/msg/LowCmd";
}

impl Message for HgImuState {
    const HASH: &'static str =
        "RIHS01_6fbba1a672360bf41e4393ad73d247036fd802d08adfb436d0c99a2a7b3ceec2";
    const NAME: &'static str = "unitree_hg/msg/IMUState";
}

impl Message for HgLowState {
    const HASH: &'static str =
        "RIHS01_aee6c5bd4b4d2eeca854bf47e32e4e3d34c47c2cafa05c08b6b0fa4bc51c6b3a";
    const NAME: &'static str = "unitree_hg/msg/LowState";
}
