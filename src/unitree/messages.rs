//! `unitree_go/msg` (github.com/unitreerobotics/unitree_ros2).

use crate::ros2::field::structs;
use crate::ros2::messages::Message;

/// Places for motors in a message.
const PLACES: usize = 20;

structs! {
    /// What one motor shall do.
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
        /// Nothing.
        reserve: [u32; 3],
    }
    /// What the battery shall do.
    BmsCmd is "unitree_go/BmsCmd" {
        /// 0xA5 switches it off.
        off: u8,
        /// Nothing.
        reserve: [u8; 3],
    }
    /// What the robot shall do.
    LowCmd is "unitree_go/LowCmd" {
        /// FE EF.
        head: [u8; 2],
        /// FF for low level.
        level_flag: u8,
        /// Nothing.
        frame_reserve: u8,
        /// Serial number.
        sn: [u32; 2],
        /// Version.
        version: [u32; 2],
        /// Nothing.
        bandwidth: u16,
        /// Motors.
        motor_cmd: [MotorCmd; PLACES],
        /// Battery.
        bms_cmd: BmsCmd,
        /// The hand-held control's bytes.
        wireless_remote: [u8; 40],
        /// Lights.
        led: [u8; 12],
        /// Fans.
        fan: [u8; 2],
        /// A pin.
        gpio: u8,
        /// Nothing.
        reserve: u32,
        /// Checksum of all before it.
        crc: u32,
    }
    /// What the inertial measurement unit measures.
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
    /// What one motor measures.
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
        /// Before the gears.
        q_raw: f32,
        /// Before the gears.
        dq_raw: f32,
        /// Before the gears.
        ddq_raw: f32,
        /// °C.
        temperature: i8,
        /// Messages that were lost.
        lost: u32,
        /// Nothing.
        reserve: [u32; 2],
    }
    /// What the battery measures.
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
        /// Times it was charged.
        cycle: u16,
        /// °C.
        bq_ntc: [i8; 2],
        /// °C.
        mcu_ntc: [i8; 2],
        /// mV.
        cell_vol: [u16; 15],
    }
    /// What the robot measures.
    LowState is "unitree_go/LowState" {
        /// FE EF.
        head: [u8; 2],
        /// FF for low level.
        level_flag: u8,
        /// Nothing.
        frame_reserve: u8,
        /// Serial number.
        sn: [u32; 2],
        /// Version.
        version: [u32; 2],
        /// Nothing.
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
        /// The hand-held control's bytes.
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
        /// Nothing.
        reserve: u32,
        /// Checksum of all before it.
        crc: u32,
    }
}

// held against PyPI rosbags by tests/ros2/unitree.py
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
