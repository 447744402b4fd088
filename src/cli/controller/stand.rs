//! `hardstand controller stand`: holds the initial joint positions.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Authority, JoinRequest, JointCommand, ModelReply, Role};

use super::super::arguments::StandArguments;
use super::super::{ExitCode, show};
use super::rise::Rise;
use super::{Connection, joined, no_state};

/// Commands without effect after which the robot's owner is named.
const NAMED_AFTER: u32 = 100;

pub(super) fn stand(a: &StandArguments) -> Result<ExitCode> {
    let connection = Connection::new(&a.connection)?;
    let model = &connection.model;
    check_gains(a, model)?;
    let mut joints = model.hold();
    for joint in &mut joints {
        (joint.kp, joint.kd) = (a.kp.unwrap_or(joint.kp), a.kd.unwrap_or(joint.kd));
    }
    if let Some(name) = &a.join {
        return stand_joined(a, connection, name, &joints);
    }
    let Connection { client, patience, stop, .. } = &connection;
    let mut controller = client.control(model)?;
    show::note(&format!(
        "controller: holding {} joints of {} (session {:016x})",
        joints.len(),
        model.robot,
        controller.session()
    ));

    let mut rise = Rise::to(joints.clone());
    let mut heard = Instant::now();
    // commands since the session began, until the owner has been named
    let mut unheard = Some(0_u32);
    while !stop.load(Ordering::Relaxed) {
        let Some(state) = controller.next_state(Duration::from_millis(100))? else {
            if heard.elapsed() >= *patience {
                return Err(no_state(*patience));
            }
            continue;
        };
        heard = Instant::now();
        if state.layout_hash != model.layout_hash {
            return Err(Error::new(
                ErrorKind::Bus,
                "the daemon now simulates another robot; start the controller again",
            ));
        }
        if controller.has_lost(&state) {
            controller.renew_session();
            unheard = Some(0);
            show::note(&format!(
                "controller: the daemon revoked this session after a timeout; continuing as \
                 {:016x}",
                controller.session()
            ));
        }
        let in_force = [Authority::Fresh, Authority::Held].map(Authority::code);
        if !in_force.contains(&state.authority) || state.command_session == controller.session() {
            unheard = Some(0);
        } else if let Some(count) = &mut unheard {
            *count += 1;
            if *count > NAMED_AFTER {
                unheard = None;
                show::note(&format!(
                    "controller: session {:016x} commands the robot (`hardstand status` names \
                     controllers that have joined); this one waits",
                    state.command_session
                ));
            }
        }
        let rising = rise.set_points(&state);
        controller.send(&state, rising.as_ref().unwrap_or(&joints))?;
    }
    Ok(ExitCode::Done)
}

fn check_gains(a: &StandArguments, model: &ModelReply) -> Result<()> {
    for (name, gain, max) in [("--kp", a.kp, model.kp_max), ("--kd", a.kd, model.kd_max)] {
        let Some(gain) = gain else { continue };
        if !(0.0..=max).contains(&gain) {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{name} is {gain}; the daemon accepts 0 to {max}"),
            ));
        }
    }
    Ok(())
}

/// The same as one of several controllers, or in lockstep.
fn stand_joined(
    a: &StandArguments,
    connection: Connection,
    name: &str,
    hold: &[JointCommand],
) -> Result<ExitCode> {
    let model = &connection.model;
    let all = model.joints.iter().map(|j| j.name.clone());
    let names: Vec<String> = if a.joints.is_empty() { all.collect() } else { a.joints.clone() };
    let own = model.joints.iter().zip(hold).filter(|(j, _)| names.contains(&j.name));
    let joints: Vec<JointCommand> = own.map(|(_, hold)| *hold).collect();
    let role = if a.advisory { Role::Advisory } else { Role::Required };
    let request = JoinRequest {
        role: role.code(),
        period_ticks: a.period,
        phase_ticks: a.phase,
        offset_ticks: a.offset,
        joints: names,
        ..JoinRequest::new(model, name)
    };
    joined::run(connection, request, |_state, _begins, commands| {
        commands.copy_from_slice(&joints);
        Ok(())
    })
}
