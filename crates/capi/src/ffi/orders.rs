//! Orders of an operator.
#![allow(unsafe_code, reason = "names that C calls, and a pointer in a struct of C")]

use std::mem::MaybeUninit;
use std::time::Duration;

use hardstand_client::{
    Client, ControlRequest, Order, PushRequest, Result, Scope, VelocityCommand,
};

use super::client::HardstandClient;
use super::pointers::{given, needed};
use crate::failure::{done, refused};
use crate::names::{
    HARDSTAND_SCOPE_ALL, HARDSTAND_SCOPE_FOOT, HARDSTAND_SCOPE_REGION, HARDSTAND_SCOPE_STATION,
};
use crate::settings::duration;
use crate::structs::HardstandPush;

fn order(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
    give: impl FnOnce(&Client, Duration) -> Result<u64>,
) -> i32 {
    done(|| {
        let since = give(&given(client, "client")?.client, duration(patience_ns))?;
        if let Some(tick) = tick {
            tick.write(since);
        }
        Ok(())
    })
}

fn steer(
    client: Option<&HardstandClient>,
    what: Order,
    number: u64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    let request = ControlRequest { number, rewind: 0 };
    order(client, patience_ns, tick, |client, patience| client.steer(what, &request, patience))
}

/// Pauses. `tick` gets the first tick to which the order applies; it may be null, in each order.
/// Any thread; blocks until the daemon answers, for up to twice `patience_ns` and two seconds;
/// allocates.
///
/// HARDSTAND_REFUSED: the daemon refuses, `hardstand_last_error` has field, value and range.
/// HARDSTAND_BUS: it does not answer, or is too busy.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_pause(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    steer(client, Order::Pause, 0, patience_ns, tick)
}

/// Resumes after a pause. As `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_resume(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    steer(client, Order::Resume, 0, patience_ns, tick)
}

/// Runs `ticks` ticks, then pauses. `tick` gets the number of ticks at the pause. As
/// `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_step(
    client: Option<&HardstandClient>,
    ticks: u64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    steer(client, Order::Step, ticks, patience_ns, tick)
}

/// Runs until there are `end_tick` ticks, then pauses. As `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_run_until(
    client: Option<&HardstandClient>,
    end_tick: u64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    steer(client, Order::RunUntil, end_tick, patience_ns, tick)
}

/// Emergency stop: all joints are damped, and no command is obeyed until `hardstand_arm`. It holds
/// for whichever run there is, and has a way of its own in the daemon. Any thread; blocks for up to
/// `patience_ns` and a second; allocates.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_stop(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    steer(client, Order::Stop, 0, patience_ns, tick)
}

/// Ends the emergency stop. As `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_arm(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    steer(client, Order::Arm, 0, patience_ns, tick)
}

/// Begins the next run in the initial state. `rewind` 1: published time begins at 0 again, too.
/// Controllers join again by themselves. As `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_reset(
    client: Option<&HardstandClient>,
    rewind: u8,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    let request = ControlRequest { number: 0, rewind };
    order(client, patience_ns, tick, |c, patience| c.steer(Order::Reset, &request, patience))
}

/// Sets the simulated seconds per second of wall time, 0.001 to 1000; 0 for as many as the machine
/// allows. As `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_speed(
    client: Option<&HardstandClient>,
    speed: f64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    order(client, patience_ns, tick, |client, patience| client.set_speed(speed, patience))
}

/// Asks controllers that walk for a velocity: ahead and to the left, m/s, and a turn to the left,
/// rad/s; each -100 to 100. It is `velocity_command` of the states, until the next one. As
/// `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_velocity(
    client: Option<&HardstandClient>,
    vx_m_per_s: f64,
    vy_m_per_s: f64,
    yaw_rate_rad_per_s: f64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    let velocity = VelocityCommand { vx_m_per_s, vy_m_per_s, yaw_rate_rad_per_s };
    order(client, patience_ns, tick, |client, patience| client.set_velocity(&velocity, patience))
}

/// Pushes a link. As `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_push(
    client: Option<&HardstandClient>,
    push: Option<&HardstandPush>,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    order(client, patience_ns, tick, |client, patience| {
        let push = given(push, "push")?;
        // SAFETY: the header says that it is a text
        let link = unsafe { needed(push.link, "link") }?.to_string();
        let HardstandPush { point_link_m, force_world_n, ticks, .. } = *push;
        let request = PushRequest { link, point_link_m, force_world_n, ticks };
        client.push(&request, patience)
    })
}

/// Sets the coefficients of friction of all stations, or of the station, foot or region with this
/// index in the model. `scope` is HARDSTAND_SCOPE_…, and `index` is 0 for all stations. As
/// `hardstand_pause`.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_friction(
    client: Option<&HardstandClient>,
    scope: u32,
    index: u32,
    mu_static: f64,
    mu_kinetic: f64,
    patience_ns: u64,
    tick: Option<&mut MaybeUninit<u64>>,
) -> i32 {
    order(client, patience_ns, tick, |client, patience| {
        let scope = match (scope, index) {
            (HARDSTAND_SCOPE_ALL, 0) => Scope::All,
            (HARDSTAND_SCOPE_STATION, index) => Scope::Station(index),
            (HARDSTAND_SCOPE_FOOT, index) => Scope::Foot(index),
            (HARDSTAND_SCOPE_REGION, index) => Scope::Region(index),
            (HARDSTAND_SCOPE_ALL, _) => {
                return Err(refused(format!("index is {index}; it must be 0 for all stations")));
            }
            _ => return Err(refused(format!("scope is {scope}; it must be 0 to 3"))),
        };
        let model = client.model(patience)?;
        client.set_friction(&model, scope, mu_static, mu_kinetic, patience)
    })
}
