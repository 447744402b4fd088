//! Controllers: states in, commands out.
#![allow(clippy::missing_safety_doc, reason = "the text for C says what a pointer must be")]
#![allow(unsafe_code, reason = "names that C calls, and pointers in structs of C")]

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::time::Duration;

use hardstand_client::{
    Client, Controller, Error, ErrorKind, JoinRequest, JoinedController, JointCommand, ModelReply,
    Result, StateReading,
};

use super::client::{HardstandClient, joint_names};
use super::pointers::{array, given, needed, place, seize};
use crate::buffers::{Buffers, Joints};
use crate::description::count;
use crate::failure::{done, guard, refused};
use crate::names::{HARDSTAND_NONE, HARDSTAND_OK, HARDSTAND_ROLE_OBSERVER};
use crate::settings::duration;
use crate::structs::{HardstandJoin, HardstandJoined, HardstandJointCommand, HardstandState};

/// A controller. It has a connection of its own, and one user at a time, in any thread.
#[derive(Debug)]
pub struct HardstandController(Mutex<Seat>);

#[derive(Debug)]
struct Seat {
    link: Link,
    buffers: Buffers,
    /// A state was given that has no answer yet.
    is_asked: bool,
    joints: Joints,
    joint_index: Vec<u32>,
    in_force: Vec<HardstandJointCommand>,
    commands: Vec<JointCommand>,
}

#[derive(Debug)]
enum Link {
    Joined(Box<JoinedController>),
    Free(Box<Free>),
    Left,
}

/// A controller that has not joined.
#[derive(Debug)]
struct Free {
    controller: Controller,
    losses: u64,
    /// The last field, because a session that ends before its keys keeps its memory.
    client: Client,
}

impl Link {
    fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>> {
        match self {
            Self::Joined(joined) => joined.next_state(patience),
            Self::Free(free) => {
                let state = free.controller.next_state(patience)?;
                if state.as_ref().is_some_and(|state| free.controller.has_lost(state)) {
                    free.controller.renew_session();
                    free.losses += 1;
                }
                Ok(state)
            }
            Self::Left => Err(gone()),
        }
    }

    fn answer(&mut self, state: &StateReading, commands: &[JointCommand]) -> Result<()> {
        match self {
            Self::Joined(joined) => joined.answer(state, commands),
            Self::Free(free) => free.controller.send(state, commands),
            Self::Left => Err(gone()),
        }
    }

    fn is_connected(&self) -> bool {
        match self {
            Self::Joined(joined) => joined.is_connected(),
            Self::Free(free) => free.client.is_connected(),
            Self::Left => false,
        }
    }
}

fn gone() -> Error {
    refused("this controller has left the run; free it and join with another one")
}

impl Seat {
    fn new(link: Link, model: &ModelReply, names: &[String]) -> Self {
        let mine =
            |(_, joint): &(usize, &hardstand_client::JointDescription)| names.contains(&joint.name);
        let mine = model.joints.iter().enumerate().filter(mine);
        let (index, names) = mine.map(|(i, joint)| (count(i), joint.name.clone())).unzip();
        Self {
            link,
            buffers: Buffers::default(),
            is_asked: false,
            joints: Joints { names, gains_max: [model.kp_max, model.kd_max] },
            joint_index: index,
            in_force: Vec::new(),
            commands: Vec::new(),
        }
    }

    /// Copies what holds until the first command applies.
    fn note_in_force(&mut self) {
        if let Link::Joined(joined) = &self.link {
            let copy = |c: &JointCommand| {
                let JointCommand { q, dq, kp, kd, tau_ff } = *c;
                HardstandJointCommand { q, dq, kp, kd, tau_ff }
            };
            self.in_force.clear();
            self.in_force.extend(joined.reply().in_force.iter().map(copy));
        }
        self.in_force.resize(self.joint_index.len(), HardstandJointCommand::default());
    }

    fn into_handle(mut self) -> *mut HardstandController {
        self.note_in_force();
        Box::into_raw(Box::new(HardstandController(Mutex::new(self))))
    }
}

/// Joins a run: the controller gets the states of its schedule, and answers each. In lockstep the
/// daemon waits for the answers. Any thread; blocks until the daemon has answered three times, each
/// for up to `patience_ns` and a second; allocates, and opens a connection.
///
/// HARDSTAND_REFUSED: the daemon refuses.
/// `hardstand_last_error` has what it expected and what came.
/// HARDSTAND_BUS: it does not answer, or is too busy.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_join(
    client: Option<&HardstandClient>,
    join: Option<&HardstandJoin>,
    patience_ns: u64,
    controller: Option<&mut MaybeUninit<*mut HardstandController>>,
) -> i32 {
    done(|| {
        let controller = place(controller, "controller")?;
        let (client, join) = (given(client, "client")?, given(join, "join")?);
        // SAFETY: the header says that it is a text
        let name = unsafe { needed(join.name, "name") }?;
        let joints = joint_names(join)?;
        let role = u8::try_from(join.role);
        let role =
            role.map_err(|_e| refused(format!("role is {}; it must be 0 to 2", join.role)))?;
        let own = client.settings.connect()?;
        let model = own.model(duration(patience_ns))?;
        let mut request = JoinRequest::new(&model, name);
        request.role = role;
        if let Some(joints) = joints {
            request.joints = joints;
        } else if join.role == HARDSTAND_ROLE_OBSERVER {
            request.joints.clear();
        }
        request.period_ticks = join.period_ticks.max(1);
        (request.phase_ticks, request.offset_ticks) = (join.phase_ticks, join.offset_ticks);
        request.physics_hash = join.physics_hash;
        if join.session != 0 {
            request.session = join.session;
        }
        let names = request.joints.clone();
        let joined = own.join(request, duration(patience_ns))?;
        *controller = Seat::new(Link::Joined(Box::new(joined)), &model, &names).into_handle();
        Ok(())
    })
}

/// Controls the robot without joining, in real time: gets the newest state, and commands apply as
/// soon as they arrive, while no controller has joined. Also to watch states. As `hardstand_join`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_control(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    controller: Option<&mut MaybeUninit<*mut HardstandController>>,
) -> i32 {
    done(|| {
        let controller = place(controller, "controller")?;
        let own = given(client, "client")?.settings.connect()?;
        let model = own.model(duration(patience_ns))?;
        let free = Free { controller: own.control(&model)?, losses: 0, client: own };
        let names: Vec<String> = model.joints.iter().map(|joint| joint.name.clone()).collect();
        *controller = Seat::new(Link::Free(Box::new(free)), &model, &names).into_handle();
        Ok(())
    })
}

/// The next state to answer; in real time the newest. Joins again after a reset, and in real time
/// after it was late for too long and lost its joints. One thread at a time; blocks for up to
/// `patience_ns`, and when it joins again, for as long as `hardstand_join`; allocates.
/// With `patience_ns` 0 it does not wait.
///
/// HARDSTAND_NONE: no state came, and the daemon is connected: it is paused, or waits for another
/// controller. HARDSTAND_BUS: no state came, and the connection is closed: the daemon has stopped.
/// HARDSTAND_REFUSED: it lost its joints, and joining again was refused.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_next_state(
    controller: Option<&HardstandController>,
    patience_ns: u64,
    state: Option<&mut MaybeUninit<HardstandState>>,
) -> i32 {
    guard(|| {
        let (controller, state) = (given(controller, "controller")?, given(state, "state")?);
        let seat = &mut *seize(&controller.0, "controller")?;
        let Some(reading) = seat.link.next_state(duration(patience_ns))? else {
            if seat.link.is_connected() {
                return Ok(HARDSTAND_NONE);
            }
            let text = "no state came; the connection is closed: the daemon has stopped";
            return Err(Error::new(ErrorKind::Bus, text));
        };
        seat.buffers.take(reading);
        seat.is_asked = true;
        state.write(seat.buffers.view());
        Ok(HARDSTAND_OK)
    })
}

/// Answers the state that `hardstand_next_state` gave last, once, with the set-points of the joints
/// of this controller, in the order of the model. One thread at a time; allocates; may wait 0.1 ms
/// for the connection, and drops the command then. In lockstep the daemon asks again.
///
/// HARDSTAND_REFUSED: `n` is not the number of its joints, a set-point is out of its range (nothing
/// is sent, and the state can be answered still), or there is no state to answer.
/// `commands` points to `n` set-points.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hardstand_answer(
    controller: Option<&HardstandController>,
    commands: *const HardstandJointCommand,
    n: usize,
) -> i32 {
    done(|| {
        let controller = given(controller, "controller")?;
        // SAFETY: as the caller promises
        let commands = unsafe { array(commands, n, "commands") }?;
        let seat = &mut *seize(&controller.0, "controller")?;
        seat.joints.check(commands, &mut seat.commands)?;
        if matches!(seat.link, Link::Left) {
            return Err(gone());
        }
        if !seat.is_asked {
            let text = "no state waits for an answer: call hardstand_next_state before each answer";
            return Err(refused(text));
        }
        seat.link.answer(&seat.buffers.reading, &seat.commands)?;
        seat.is_asked = false;
        Ok(())
    })
}

/// Joins again under the same name and session. `hardstand_next_state` does so by itself, except
/// after a daemon was started anew, and in lockstep. As `hardstand_join`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_join_again(controller: Option<&HardstandController>) -> i32 {
    done(|| {
        let controller = given(controller, "controller")?;
        let seat = &mut *seize(&controller.0, "controller")?;
        seat.is_asked = false;
        match &mut seat.link {
            Link::Joined(joined) => joined.join_again()?,
            Link::Free(free) => free.controller.renew_session(),
            Link::Left => return Err(gone()),
        }
        seat.note_in_force();
        Ok(())
    })
}

/// The controller's part in the run. One thread at a time; does not block.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_joined(
    controller: Option<&HardstandController>,
    joined: Option<&mut MaybeUninit<HardstandJoined>>,
) -> i32 {
    done(|| {
        let (controller, joined) = (given(controller, "controller")?, given(joined, "joined")?);
        let seat = &mut *seize(&controller.0, "controller")?;
        let mut out = HardstandJoined {
            first_tick: 0,
            session: 0,
            losses: 0,
            skipped: 0,
            run_id: seat.buffers.reading.run_id,
            mode: seat.buffers.reading.mode,
            joint_count: count(seat.joint_index.len()),
            joint_index: seat.joint_index.as_ptr(),
            in_force: seat.in_force.as_ptr(),
        };
        match &seat.link {
            Link::Joined(controller) => {
                let reply = controller.reply();
                (out.first_tick, out.session) = (reply.first_tick, reply.session);
                (out.run_id, out.mode) = (reply.run_id, reply.mode);
                (out.losses, out.skipped) = (controller.losses(), controller.skipped());
            }
            Link::Free(free) => {
                (out.session, out.losses) = (free.controller.session(), free.losses);
            }
            Link::Left => return Err(gone()),
        }
        joined.write(out);
        Ok(())
    })
}

/// Leaves the run: ticks no longer wait for this controller, and its joints are free for others.
/// Only `hardstand_controller_free` may follow. One thread at a time; blocks for up to
/// `patience_ns` and a second, not at all if the daemon is gone; allocates.
///
/// HARDSTAND_BUS: the daemon does not answer, or is gone. The handle has left all the same.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_leave(
    controller: Option<&HardstandController>,
    patience_ns: u64,
) -> i32 {
    done(|| {
        let controller = given(controller, "controller")?;
        let seat = &mut *seize(&controller.0, "controller")?;
        match std::mem::replace(&mut seat.link, Link::Left) {
            Link::Joined(joined) => joined.leave(duration(patience_ns)).map(drop),
            Link::Free(_) => Ok(()),
            Link::Left => Err(gone()),
        }
    })
}

/// Ends a controller. Without `hardstand_leave` before, the daemon treats it like one that was
/// killed: in lockstep it waits for it, in real time its joints are damped. Null is allowed. Blocks
/// for some milliseconds. Call it before `main` returns, and when no call with it is under way.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_controller_free(controller: Option<Box<HardstandController>>) {
    done(|| {
        drop(controller);
        Ok(())
    });
}
