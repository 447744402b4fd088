//! A control law on joints that a controller has joined for: the same in lockstep and in real time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hardstand_error::Result;
use hardstand_protocol::{JoinRequest, JointCommand, StateReading};

use super::super::{ExitCode, show};
use super::{Connection, no_state};

/// Time for the daemon to answer that a controller leaves.
const LEAVING: Duration = Duration::from_secs(1);

/// Joins, and answers every state with what `law` writes into the commands of the joints, which
/// are in the model's order. Ends with a signal, or with an error after `patience` without a
/// state.
pub(super) fn run(
    connection: Connection,
    request: JoinRequest,
    mut law: impl FnMut(&StateReading, &mut [JointCommand]) -> Result<()>,
) -> Result<ExitCode> {
    let Connection { client, patience, stop, .. } = connection;
    let mut commands = vec![JointCommand::default(); request.joints.len()];
    let name = request.controller.clone();
    let mut controller = client.join(request, patience)?;
    let session = controller.reply().session;
    let count = commands.len();
    show::note(&format!("controller: {name} commands {count} joints (session {session:016x})"));
    let (mut heard, mut losses) = (Instant::now(), 0);
    while !stop.load(Ordering::Relaxed) {
        match controller.next_state(Duration::from_millis(100))? {
            Some(state) => {
                heard = Instant::now();
                if controller.losses() > losses {
                    losses = controller.losses();
                    show::note(&format!("controller: {name} was late, and has joined again"));
                }
                law(&state, &mut commands)?;
                controller.answer(&state, &commands)?;
            }
            None if heard.elapsed() >= patience => return Err(no_state(patience)),
            None => {}
        }
    }
    if controller.skipped() > 0 {
        let skipped = controller.skipped();
        show::note(&format!("controller: {name} was too slow for {skipped} states"));
    }
    // a daemon that has ended does not answer
    let _left = controller.leave(LEAVING).is_ok();
    Ok(ExitCode::Done)
}
