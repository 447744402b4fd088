//! `hardstand controller stand`: the example controller, a process of its own.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::bus::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::plant::JointCommand;

use super::arguments::{ControllerArguments, ControllerKind, StandArguments};
use super::{exit, show, stop_on_signal};

pub(super) fn controller(a: &ControllerArguments) -> Result<u8> {
    match &a.kind {
        ControllerKind::Stand(a) => stand(a),
    }
}

fn stand(a: &StandArguments) -> Result<u8> {
    let stop = stop_on_signal()?;
    let patience = Duration::try_from_secs_f64(a.patience)
        .map_err(|e| Error::new(ErrorKind::Input, format!("--patience is {}: {e}", a.patience)))?;
    let client = Client::connect(&a.connect, &a.robot)?;
    let model = client.model(patience)?;
    let hold = |j: &crate::message::JointDescription| JointCommand {
        q: j.q_initial,
        kp: a.kp,
        kd: a.kd,
        ..Default::default()
    };
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
                    format!("no state for {} s: the daemon is gone", a.patience),
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
            show::note(&format!("controller: lost the robot, now {:016x}", controller.session()));
        }
        controller.send(&state, &joints)?;
    }
    Ok(exit::OK)
}
