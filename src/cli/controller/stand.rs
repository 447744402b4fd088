//! `hardstand controller stand`: holds the initial joint positions.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hardstand_controllers::{Runner, Stand};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Authority, Mode, ModelReply, Role};

use super::super::arguments::StandArguments;
use super::super::{ExitCode, show};
use super::Connection;

/// Commands without effect after which the robot's owner is named.
const NAMED_AFTER: u32 = 100;

fn must_join() -> Error {
    let text = "outside real time the daemon obeys only controllers that have joined: give this \
                one a name with --join NAME";
    Error::new(ErrorKind::Input, text)
}

pub(super) fn stand(a: &StandArguments) -> Result<ExitCode> {
    let law = |model: &ModelReply| Stand::new(model, &a.joints, a.kp, a.kd);
    let way = &a.connection;
    let joins = way.shared_memory.is_some() || way.in_process.scenario.is_some();
    if a.join.is_some() || joins {
        let name = a.join.as_deref().unwrap_or("stand");
        let law = |model: &ModelReply| Ok(Some(Box::new(law(model)?) as _));
        return super::run(way, name, law, |request| {
            let role = if a.advisory { Role::Advisory } else { Role::Required };
            request.role = role.code();
            (request.period_ticks, request.phase_ticks) = (a.period, a.phase);
            request.offset_ticks = a.offset;
        });
    }
    let connection = Connection::new(&a.connection)?;
    let model = &connection.model;
    let mut runner = Runner::new(Box::new(law(model)?), model);
    let Connection { client, patience, stop, .. } = &connection;
    let mut controller = client.control(model)?;
    show::note(&format!(
        "controller: holding {} joints of {} (session {:016x})",
        runner.joints().len(),
        model.robot,
        controller.session()
    ));

    let mut heard = Instant::now();
    // commands since the session began, until the owner has been named
    let mut unheard = Some(0_u32);
    while !stop.load(Ordering::Relaxed) {
        let Some(state) = controller.next_state(Duration::from_millis(100))? else {
            if heard.elapsed() >= *patience {
                let seconds = patience.as_secs_f64();
                let text = format!("no state for {seconds} s: the daemon has ended");
                return Err(Error::new(ErrorKind::Bus, text));
            }
            continue;
        };
        heard = Instant::now();
        if state.mode != Mode::RealTime.code() {
            return Err(must_join());
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
        let obeyed = Authority::is_command(state.authority);
        if !obeyed || state.command_session == controller.session() {
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
        controller.send(&state, runner.answer(&state)?)?;
    }
    Ok(ExitCode::Done)
}
