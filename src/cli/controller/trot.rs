//! `hardstand controller trot`: walks with the shipped quadruped.

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{JoinRequest, JointCommand, ModelReply, StateReading};
use hardstand_trot::{Command, JOINTS, Readings, Trot, commanded};

use super::super::ExitCode;
use super::super::arguments::{TrotArguments, VelocityArguments};
use super::{Connection, joined};

/// So long the joints hold their initial positions, so that the robot can land.
const LAND_NS: u64 = 500_000_000;

/// Commands, each from its time on, s.
type Schedule = Vec<(f64, Command)>;

pub(super) fn trot(a: &TrotArguments) -> Result<ExitCode> {
    let connection = Connection::new(&a.connection)?;
    let model = &connection.model;
    check(model)?;
    let mut walk = Walk {
        hold: model.hold(),
        schedule: schedule(a.velocity),
        run_id: None,
        begun_ns: 0,
        trot: Trot::new(),
    };
    let request = JoinRequest::new(model, &a.join);
    joined::run(connection, request, |state, commands| walk.step(state, commands))
}

/// Without velocities, all that it can.
fn schedule(v: VelocityArguments) -> Schedule {
    let stand = Command::default();
    let spot = Command { trot: true, ..stand };
    let ahead = Command { vx_m_per_s: 0.4, ..spot };
    let turn = Command { wz_rad_per_s: 0.8, ..spot };
    if let (None, None, None) = (v.vx, v.vy, v.yaw_rate) {
        let walk =
            [(0.0, stand), (0.8, spot), (1.5, ahead), (4.5, turn), (6.0, spot), (6.5, stand)];
        return walk.into();
    }
    let asked = Command {
        vx_m_per_s: v.vx.unwrap_or(0.0),
        vy_m_per_s: v.vy.unwrap_or(0.0),
        wz_rad_per_s: v.yaw_rate.unwrap_or(0.0),
        ..spot
    };
    vec![(0.0, stand), (0.8, spot), (1.5, asked)]
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
    schedule: Schedule,
    run_id: Option<u32>,
    begun_ns: u64,
    trot: Trot,
}

impl Walk {
    /// A reset or restore begins a new walk.
    fn step(&mut self, state: &StateReading, commands: &mut [JointCommand]) -> Result<()> {
        if self.run_id != Some(state.run_id) {
            (self.run_id, self.begun_ns, self.trot) =
                (Some(state.run_id), state.time_ns, Trot::new());
        }
        let since_ns = state.time_ns.saturating_sub(self.begun_ns);
        if since_ns < LAND_NS {
            commands.copy_from_slice(&self.hold);
            return Ok(());
        }
        let since_s = since_ns as f64 / 1e9;
        let readings = readings(state)?;
        let set_points = self.trot.step(&readings, &commanded(&self.schedule, since_s));
        for (command, s) in commands.iter_mut().zip(&set_points) {
            let (q, dq, tau_ff) = (s.q_rad, s.dq_rad_per_s, s.tau_ff_nm);
            *command = JointCommand { q, dq, kp: s.kp, kd: s.kd, tau_ff };
        }
        Ok(())
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
