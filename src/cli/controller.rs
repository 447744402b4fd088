//! `hardstand controller stand`: the example controller, a process of its own.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{HoldGains, JoinRequest, JointDescription, ModelReply};
use hardstand_protocol::{JointCommand, Role};

use super::arguments::{ControllerArguments, ControllerKind, StandArguments};
use super::{ExitCode, show, stop_on_signal};

pub(super) fn controller(a: &ControllerArguments) -> Result<ExitCode> {
    match &a.kind {
        ControllerKind::Stand(a) => stand(a),
    }
}

fn stand(a: &StandArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let patience = Duration::try_from_secs_f64(a.patience)
        .map_err(|e| Error::new(ErrorKind::Input, format!("--patience is {}: {e}", a.patience)))?;
    let client = a.daemon.client()?;
    let model = find(&client, patience, &stop)?;
    for (name, gain, max) in [("--kp", a.kp, model.kp_max), ("--kd", a.kd, model.kd_max)] {
        let Some(gain) = gain else { continue };
        if !(0.0..=max).contains(&gain) {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{name} is {gain}; the daemon accepts 0 to {max}"),
            ));
        }
    }
    let suggested = model.joints.iter().zip(&model.hold_gains);
    let suggested: BTreeMap<&str, HoldGains> =
        suggested.map(|(j, gains)| (j.name.as_str(), *gains)).collect();
    let hold = |j: &JointDescription| {
        let own = suggested.get(j.name.as_str()).copied().unwrap_or_default();
        let (kp, kd) = (a.kp.unwrap_or(own.kp), a.kd.unwrap_or(own.kd));
        JointCommand { q: j.q_initial, kp, kd, ..Default::default() }
    };
    if let Some(name) = &a.join {
        return stand_joined(a, client, &model, name, (&stop, patience), hold);
    }
    let joints: Vec<JointCommand> = model.joints.iter().map(hold).collect();
    let mut controller = client.control(&model)?;
    show::note(&format!(
        "controller: holding {} joints of {} (session {:016x})",
        joints.len(),
        model.robot,
        controller.session()
    ));

    let mut heard = Instant::now();
    while !stop.load(Ordering::Relaxed) {
        let Some(state) = controller.next_state(Duration::from_millis(100))? else {
            if heard.elapsed() >= patience {
                return Err(Error::new(
                    ErrorKind::Bus,
                    format!("no state for {} s: the daemon has ended", a.patience),
                ));
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
            show::note(&format!(
                "controller: the daemon revoked this session after a timeout; continuing as \
                 {:016x}",
                controller.session()
            ));
        }
        controller.send(&state, &joints)?;
    }
    Ok(ExitCode::Done)
}

/// Time for the daemon to answer that a controller leaves.
const LEAVING: Duration = Duration::from_secs(1);

/// The same as one of several controllers, or in lockstep.
fn stand_joined(
    a: &StandArguments,
    client: Client,
    model: &ModelReply,
    name: &str,
    (stop, patience): (&AtomicBool, Duration),
    hold: impl Fn(&JointDescription) -> JointCommand,
) -> Result<ExitCode> {
    let all = model.joints.iter().map(|j| j.name.clone());
    let names: Vec<String> = if a.joints.is_empty() { all.collect() } else { a.joints.clone() };
    let own = model.joints.iter().filter(|j| names.contains(&j.name));
    let joints: Vec<JointCommand> = own.map(hold).collect();
    let role = if a.advisory { Role::Advisory } else { Role::Required };
    let request = JoinRequest {
        role: role.code(),
        period_ticks: a.period,
        phase_ticks: a.phase,
        offset_ticks: a.offset,
        joints: names,
        ..JoinRequest::new(model, name)
    };
    let mut controller = client.join(request, patience)?;
    let session = controller.reply().session;
    show::note(&format!(
        "controller: {name} holds {} joints of {} (session {session:016x})",
        joints.len(),
        model.robot,
    ));
    let (mut heard, mut losses) = (Instant::now(), 0);
    while !stop.load(Ordering::Relaxed) {
        match controller.next_state(Duration::from_millis(100))? {
            Some(state) => {
                heard = Instant::now();
                if controller.losses() > losses {
                    losses = controller.losses();
                    show::note(&format!("controller: {name} was late, and has joined again"));
                }
                controller.answer(&state, &joints)?;
            }
            None if heard.elapsed() >= patience => {
                let text = format!("no state for {} s: the daemon has ended", a.patience);
                return Err(Error::new(ErrorKind::Bus, text));
            }
            None => {}
        }
    }
    // a daemon that has ended does not answer
    let _left = controller.leave(LEAVING).is_ok();
    Ok(ExitCode::Done)
}

/// Asks for the model in short turns, so that a signal ends the search at once.
fn find(client: &Client, patience: Duration, stop: &AtomicBool) -> Result<ModelReply> {
    let begin = Instant::now();
    loop {
        match client.model(Duration::ZERO) {
            Err(e) if begin.elapsed() >= patience || stop.load(Ordering::Relaxed) => return Err(e),
            Err(_not_yet) => std::thread::sleep(Duration::from_millis(50)),
            found => return found,
        }
    }
}
