//! `hardstand controller trot`: walks with the shipped quadruped.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply, StateReading, VelocityCommand};
use hardstand_trot::{Command, JOINTS, Readings, Trot};

use super::super::ExitCode;
use super::super::arguments::{TrotArguments, VelocityArguments};
use super::{Connection, joined};

/// So long the joints hold their initial positions, so that the robot can land.
const LAND_NS: u64 = 500_000_000;
/// From then on it trots, if it is asked to move: at first on the spot.
const TROT_NS: u64 = 800_000_000;
const MOVE_NS: u64 = 1_500_000_000;
/// So long it goes on to trot on the spot after it has moved, so that it stops on four feet.
const STOP_NS: u64 = 500_000_000;

pub(super) fn trot(a: &TrotArguments) -> Result<ExitCode> {
    let connection = Connection::new(&a.connection)?;
    let model = &connection.model;
    check(model)?;
    let mut walk = Walk {
        hold: model.hold(),
        given: given(a.velocity),
        begun_ns: 0,
        moved_ns: None,
        trot: Trot::new(),
    };
    let request = JoinRequest::new(model, &a.join);
    joined::run(connection, request, |state, begins, commands| walk.step(state, begins, commands))
}

/// The velocity of the arguments, if there is one.
fn given(v: VelocityArguments) -> Option<VelocityCommand> {
    let all = [v.vx, v.vy, v.yaw_rate];
    let any = all.iter().any(Option::is_some);
    any.then(|| VelocityCommand::from(all.map(|x| x.unwrap_or(0.0))))
}

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

/// The controller, in a run.
struct Walk {
    hold: Vec<JointCommand>,
    given: Option<VelocityCommand>,
    begun_ns: u64,
    /// When it was last asked to move.
    moved_ns: Option<u64>,
    trot: Trot,
}

impl Walk {
    fn step(
        &mut self,
        state: &StateReading,
        begins: bool,
        commands: &mut [JointCommand],
    ) -> Result<()> {
        if begins {
            (self.begun_ns, self.moved_ns, self.trot) = (state.time_ns, None, Trot::new());
        }
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

fn readings(state: &StateReading) -> Result<Readings> {
    let of = |value: fn(&hardstand_protocol::JointReading) -> f64| {
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
