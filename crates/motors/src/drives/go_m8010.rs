//! Unitree GO-M8010-6 on RS-485, 4 Mbit/s.
//!
//! A request has 17 bytes: `FE EE`, mode and id, torque, speed, position, stiffness, damping, CRC.
//! The motor with that id answers 16 bytes: `FD EE`, mode and id, torque, speed, position,
//! temperature, error and foot force, CRC. Numbers are little-endian fixed point at the rotor:
//! torque 1/256 N·m, speed 1/256 and position 1/32768 of a revolution, gains 1/1280.

use crate::{Condition, Conditions, Drive, Environment, JointReading, Packet, SetPoint};

const REQUEST_BYTES: usize = 17;
const GEAR: f64 = 6.33;
const REVOLUTION: f64 = std::f64::consts::TAU;
const BROADCAST: u8 = 15;
const LOCK: u8 = 0;
const FOC: u8 = 1;
const GAIN_UNITS: f64 = 1280.0;
const MOTOR_MAX_C: f64 = 90.0;
/// The motor's torque at its output is 23.7 N·m.
const TAU_MAX_NM: f64 = 23.7;
/// Damping of mode 0 at the output in N·m·s/rad: phases shorted. An estimate.
const LOCK_KD: f64 = 0.5;

/// A GO-M8010-6.
#[derive(Clone, Debug)]
pub struct GoM8010 {
    id: u8,
    mode: u8,
    command: SetPoint,
    environment: Environment,
    conditions: Conditions,
    /// The 12-bit force sensor of the foot.
    pub foot_force: u16,
}

impl GoM8010 {
    /// A motor with `id` 0 to 14.
    pub fn new(id: u8) -> Self {
        Self {
            id: id & 0xf,
            mode: LOCK,
            command: SetPoint::Released,
            environment: Environment::default(),
            conditions: Conditions::default(),
            foot_force: 0,
        }
    }

    fn error(&self) -> u8 {
        let has = |condition| self.conditions.has(condition);
        match () {
            () if has(Condition::OverTemperature) || self.environment.motor_c >= MOTOR_MAX_C => 1,
            () if has(Condition::OverCurrent) || has(Condition::GateDriver) => 2,
            () if has(Condition::OverVoltage) || self.environment.bus_v > 30.0 => 3,
            () if has(Condition::Encoder) => 4,
            () => 0,
        }
    }

    fn answer(&self, reading: &JointReading) -> Packet {
        let mut out = vec![0xfd, 0xee, self.id | self.mode << 4];
        let speed = reading.dq_rad_s * GEAR / REVOLUTION * 256.0;
        out.extend(((reading.tau_nm / GEAR * 256.0) as i16).to_le_bytes());
        out.extend((speed as i16).to_le_bytes());
        out.extend(((reading.q_rad * GEAR / REVOLUTION * 32768.0) as i32).to_le_bytes());
        out.push(self.environment.motor_c as i8 as u8);
        let status = u16::from(self.error()) | (self.foot_force & 0xfff) << 3;
        out.extend(status.to_le_bytes());
        let crc = crc_kermit(&out);
        out.extend(crc.to_le_bytes());
        out
    }
}

impl Drive for GoM8010 {
    type Frame = Packet;

    fn on_frame(
        &mut self,
        _: u64,
        request: &Packet,
        now: &JointReading,
        answers: &mut Vec<Packet>,
    ) {
        let Some((body, [low, high])) = request.split_last_chunk() else { return };
        let Ok(body) = <&[u8; REQUEST_BYTES - 2]>::try_from(body) else { return };
        if crc_kermit(body) != u16::from_le_bytes([*low, *high]) || !body.starts_with(&[0xfe, 0xee])
        {
            return;
        }
        let id = body[2] & 0xf;
        if id != self.id && id != BROADCAST {
            return;
        }
        let short = |n: usize| f64::from(i16::from_le_bytes([body[n], body[n + 1]]));
        let gain = |n: usize| f64::from(u16::from_le_bytes([body[n], body[n + 1]])) / GAIN_UNITS;
        let position = i32::from_le_bytes([body[7], body[8], body[9], body[10]]);
        self.mode = body[2] >> 4 & 7;
        self.command = SetPoint::Follow {
            q_rad: f64::from(position) / 32768.0 * REVOLUTION / GEAR,
            dq_rad_s: short(5) / 256.0 * REVOLUTION / GEAR,
            // torque grows and angles shrink by the gear: gains at the output by its square
            kp: gain(11) * GEAR * GEAR,
            kd: gain(13) * GEAR * GEAR,
            tau_ff_nm: short(3) / 256.0 * GEAR,
            tau_max_nm: TAU_MAX_NM,
        };
        if id == self.id {
            answers.push(self.answer(now));
        }
    }

    fn set_point(&mut self, _now_ns: u64, _reading: &JointReading) -> SetPoint {
        match self.mode {
            _ if self.error() != 0 => SetPoint::Released,
            FOC => self.command,
            LOCK => SetPoint::Damped { kd: LOCK_KD, tau_max_nm: TAU_MAX_NM },
            _ => SetPoint::Released,
        }
    }

    fn set_environment(&mut self, environment: Environment) {
        self.environment = environment;
    }

    fn set_condition(&mut self, condition: Condition, present: bool) {
        self.conditions.set(condition, present);
    }
}

/// Takes the next 17 bytes that begin like a request from `stream`. Bytes before them are dropped,
/// and so are the first bytes of what only looks like a request, as its checksum shows.
pub fn split_requests(stream: &mut Vec<u8>) -> Option<Packet> {
    loop {
        let begin = stream.iter().position(|byte| *byte == 0xfe).unwrap_or(stream.len());
        stream.drain(..begin);
        if stream.get(1).is_some_and(|byte| *byte != 0xee) {
            stream.drain(..1);
            continue;
        }
        let (body, crc) = stream.get(..REQUEST_BYTES)?.split_at(REQUEST_BYTES - 2);
        if crc_kermit(body).to_le_bytes() == crc {
            return Some(stream.drain(..REQUEST_BYTES).collect());
        }
        stream.drain(..2);
    }
}

/// CRC-16/KERMIT, which Linux calls `crc_ccitt`, from 0.
pub fn crc_kermit(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| {
        let step = |c: u16, _| if c & 1 != 0 { c >> 1 ^ 0x8408 } else { c >> 1 };
        (0..8).fold(crc ^ u16::from(*byte), step)
    })
}
