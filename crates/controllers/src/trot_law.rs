//! Walks with the shipped quadruped: `hardstand-trot` in a run.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::limits::VELOCITY_COMMAND_MAX;
use hardstand_protocol::{JointCommand, JointReading, ModelReply, StateReading, VelocityCommand};
use hardstand_trot::{Command, JOINTS, Readings, Trot};

use crate::ControlLaw;

/// So long the joints hold their initial positions, so that the robot can land.
const LAND_NS: u64 = 500_000_000;
/// From then on it trots, if it is asked to move: at first on the spot.
const TROT_NS: u64 = 800_000_000;
const MOVE_NS: u64 = 1_500_000_000;
/// So long it goes on to trot on the spot after it has moved, so that it stops on four feet.
const STOP_NS: u64 = 500_000_000;

/// The controller knows one robot.
fn check(model: &ModelReply) -> Result<()> {
    let names: Vec<&str> = model.joints.iter().map(|j| j.name.as_str()).collect();
    if names == JOINTS && model.feet.len() == 4 {
        return Ok(());
    }
    let text = format!(
        "{} has the joints {} and {} feet; this controller is for config/quadruped.toml, with 4 \
         feet and the joints {}",
        model.robot,
        names.join(", "),
        model.feet.len(),
        JOINTS.join(", ")
    );
    Err(Error::new(ErrorKind::Input, text))
}

fn check_velocity(given: VelocityCommand) -> Result<()> {
    const MAX: f64 = VELOCITY_COMMAND_MAX;
    let values = ["vx", "vy", "yaw_rate"].into_iter().zip(given.values());
    // NaN is in no range
    let wrong = values.into_iter().find(|(_, value)| !(-MAX..=MAX).contains(value));
    let Some((name, value)) = wrong else { return Ok(()) };
    let unit = if name == "yaw_rate" { "rad/s" } else { "m/s" };
    let text = format!("{name} is {value}; it must be -{MAX} to {MAX} {unit}");
    Err(Error::new(ErrorKind::Input, text))
}

/// Lands, stands, and trots where it is asked to move.
#[derive(Debug)]
pub struct TrotLaw {
    joints: Vec<String>,
    hold: Vec<JointCommand>,
    given: Option<VelocityCommand>,
    begun_ns: u64,
    /// When it was last asked to move.
    moved_ns: Option<u64>,
    trot: Trot,
}

impl TrotLaw {
    /// For the shipped quadruped. Moves with the velocity `given`, or else with that of the states.
    ///
    /// # Errors
    /// `ErrorKind::Input` if the robot is another one, or a velocity is outside the range of
    /// `cmd_vel`.
    pub fn new(model: &ModelReply, given: Option<VelocityCommand>) -> Result<Self> {
        check(model)?;
        check_velocity(given.unwrap_or(VelocityCommand::STAND))?;
        Ok(Self {
            joints: model.joints.iter().map(|joint| joint.name.clone()).collect(),
            hold: model.hold(),
            given,
            begun_ns: 0,
            moved_ns: None,
            trot: Trot::new(),
        })
    }

    /// Trots where it is asked to move, and stands otherwise.
    fn command(&mut self, velocity: VelocityCommand, since_ns: u64) -> Command {
        let [vx_m_per_s, vy_m_per_s, wz_rad_per_s] = velocity.values();
        if since_ns < TROT_NS {
            return Command::default();
        }
        if velocity != VelocityCommand::STAND {
            self.moved_ns = Some(since_ns);
        }
        let trot = self.moved_ns.is_some_and(|moved_ns| since_ns - moved_ns < STOP_NS);
        let spot = Command { trot, ..Command::default() };
        if since_ns < MOVE_NS {
            return spot;
        }
        Command { vx_m_per_s, vy_m_per_s, wz_rad_per_s, ..spot }
    }
}

impl ControlLaw for TrotLaw {
    fn joints(&self) -> &[String] {
        &self.joints
    }

    fn begin(&mut self, first: &StateReading) {
        (self.begun_ns, self.moved_ns, self.trot) = (first.time_ns, None, Trot::new());
    }

    fn step(&mut self, state: &StateReading, commands: &mut [JointCommand]) -> Result<()> {
        let since_ns = state.time_ns.saturating_sub(self.begun_ns);
        if since_ns < LAND_NS {
            commands.copy_from_slice(&self.hold);
            return Ok(());
        }
        let velocity = self.given.unwrap_or(state.velocity_command);
        let command = self.command(velocity, since_ns);
        let set_points = self.trot.step(&readings(state)?, &command);
        for (command, s) in commands.iter_mut().zip(&set_points) {
            let (q, dq, tau_ff) = (s.q_rad, s.dq_rad_per_s, s.tau_ff_nm);
            *command = JointCommand { q, dq, kp: s.kp, kd: s.kd, tau_ff };
        }
        Ok(())
    }
}

fn readings(state: &StateReading) -> Result<Readings> {
    let of = |value: fn(&JointReading) -> f64| {
        let all: Vec<f64> = state.joints.iter().map(value).collect();
        <[f64; 12]>::try_from(all)
    };
    let feet: Vec<bool> = state.foot_contact.iter().map(|c| *c != 0).collect();
    let (Ok(q_rad), Ok(dq_rad_per_s), Ok(foot_contact)) =
        (of(|j| j.q), of(|j| j.dq), <[bool; 4]>::try_from(feet))
    else {
        return Err(Error::new(ErrorKind::Bus, "the daemon now simulates another robot"));
    };
    Ok(Readings {
        time_s: state.time_ns as f64 / 1e9,
        imu_quat_wxyz: state.imu_quat_wxyz,
        imu_gyro_rad_per_s: state.imu_angular_velocity_rad_per_s,
        imu_acc_m_per_s2: state.imu_specific_force_m_per_s2,
        q_rad,
        dq_rad_per_s,
        foot_contact,
    })
}
