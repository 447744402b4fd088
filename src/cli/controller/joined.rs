//! A control law on joints that a controller has joined for: the same in lockstep and in real time.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hardstand_error::Result;
use hardstand_protocol::{JoinRequest, JointCommand, StateReading};

use super::super::{ExitCode, show};
use super::rise::Rise;
use super::{Connection, no_state};

/// Time for the daemon to answer that a controller leaves.
const LEAVING: Duration = Duration::from_secs(1);

/// Joins, and answers every state with what `law` writes into the commands of the joints, which
/// are in the model's order. `law` is told when it begins: with a run, and when the robot has
/// [risen](Rise) from an emergency stop. Ends with a signal, or with an error after `patience`
/// without a state.
pub(super) fn run(
    connection: Connection,
    request: JoinRequest,
    mut law: impl FnMut(&StateReading, bool, &mut [JointCommand]) -> Result<()>,
) -> Result<ExitCode> {
    let Connection { client, model, patience, stop } = connection;
    let mut rise = Rise::to(model.hold());
    let own: Vec<usize> = (0..model.joints.len())
        .filter(|i| request.joints.contains(&model.joints[*i].name))
        .collect();
    let mut begun = None;
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
                if let Some(rising) = rise.set_points(&state) {
                    own.iter().zip(&mut commands).for_each(|(i, command)| *command = rising[*i]);
                    begun = None;
                } else {
                    let begins = begun.replace(state.run_id) != Some(state.run_id);
                    law(&state, begins, &mut commands)?;
                }
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
