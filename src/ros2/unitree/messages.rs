//! `unitree_go/msg` (github.com/unitreerobotics/unitree_ros2).

use crate::ros2::field::structs;
use crate::ros2::messages::Message;

/// Places for motors in a message.
const PLACES: usize = 20;

structs! {
    /// Command of one motor.
    MotorCmd is "unitree_go/MotorCmd" {
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
        reserve: [u32; 3],
    }
    /// Command of the battery.
    BmsCmd is "unitree_go/BmsCmd" {
        /// 0xA5 switches it off.
        off: u8,
        /// Reserved.
        reserve: [u8; 3],
    }
    /// Command of the robot.
    LowCmd is "unitree_go/LowCmd" {
        /// FE EF.
        head: [u8; 2],
        /// FF for low level.
        level_flag: u8,
        /// Reserved.
        frame_reserve: u8,
        /// Serial number.
        sn: [u32; 2],
        /// Version.
        version: [u32; 2],
        /// Reserved.
        bandwidth: u16,
        /// Motors.
        motor_cmd: [MotorCmd; PLACES],
        /// Battery.
        bms_cmd: BmsCmd,
        /// Bytes of the remote control.
        wireless_remote: [u8; 40],
        /// Lights.
        led: [u8; 12],
        /// Fans.
        fan: [u8; 2],
        /// A pin.
        gpio: u8,
        /// Reserved.
        reserve: u32,
        /// Checksum of all bytes before it.
        crc: u32,
    }
    /// Readings of the inertial measurement unit.
    ImuState is "unitree_go/IMUState" {
        /// Orientation in the world, order w, x, y, z.
        quaternion: [f32; 4],
        /// rad/s.
        gyroscope: [f32; 3],
        /// m/s², +9.81 on z at rest.
        accelerometer: [f32; 3],
        /// Roll, pitch, yaw, rad.
        rpy: [f32; 3],
        /// °C.
        temperature: i8,
    }
    /// Readings of one motor.
    MotorState is "unitree_go/MotorState" {
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
        /// Before the gear.
        q_raw: f32,
        /// Before the gear.
        dq_raw: f32,
        /// Before the gear.
        ddq_raw: f32,
        /// °C.
        temperature: i8,
        /// Lost messages.
        lost: u32,
        /// Reserved.
        reserve: [u32; 2],
    }
    /// Readings of the battery.
    BmsState is "unitree_go/BmsState" {
        /// Version.
        version_high: u8,
        /// Version.
        version_low: u8,
        /// State.
        status: u8,
        /// Charge, %.
        soc: u8,
        /// mA.
        current: i32,
        /// Charge cycles.
        cycle: u16,
        /// °C.
        bq_ntc: [i8; 2],
        /// °C.
        mcu_ntc: [i8; 2],
        /// mV.
        cell_vol: [u16; 15],
    }
    /// Readings of the robot.
    LowState is "unitree_go/LowState" {
        /// FE EF.
        head: [u8; 2],
        /// FF for low level.
        level_flag: u8,
        /// Reserved.
        frame_reserve: u8,
        /// Serial number.
        sn: [u32; 2],
        /// Version.
        version: [u32; 2],
        /// Reserved.
        bandwidth: u16,
        /// Inertial measurement unit.
        imu_state: ImuState,
        /// Motors.
        motor_state: [MotorState; PLACES],
        /// Battery.
        bms_state: BmsState,
        /// Feet.
        foot_force: [i16; 4],
        /// Feet.
        foot_force_est: [i16; 4],
        /// ms.
        tick: u32,
        /// Bytes of the remote control.
        wireless_remote: [u8; 40],
        /// Bits.
        bit_flag: u8,
        /// A.
        adc_reel: f32,
        /// °C.
        temperature_ntc1: i8,
        /// °C.
        temperature_ntc2: i8,
        /// V.
        power_v: f32,
        /// A.
        power_a: f32,
        /// 1/min.
        fan_frequency: [u16; 4],
        /// Reserved.
        reserve: u32,
        /// Checksum of all bytes before it.
        crc: u32,
    }
}

// tests/ros2/unitree.py compares this with PyPI rosbags
impl Message for LowCmd {
    const HASH: &'static str =
        "RIHS01_0da1142c994d184f6102948c3acf52b9557836cfe5062b924a1f08ac8b72dc34";
    const NAME: &'static str = "unitree_go/msg/LowCmd";
}

impl Message for LowState {
    const HASH: &'static str =
        "RIHS01_db5172cac933e3cfc0e705903343eb4eea42e65e224e9d726d3e672aec0caf0f";
    const NAME: &'static str = "unitree_go/msg/LowState";
}
