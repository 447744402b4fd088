//! `hardstand remote`: the keyboard of a terminal, or a game controller, as a remote control.

mod gamepad;
mod keyboard;
mod sender;

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::arguments::RemoteArguments;
use super::{ExitCode, show, stop_on_signal};
use crate::ros2::unitree::{KEYS, WirelessController, joy_of};
use gamepad::Gamepad;
use hardstand_error::{Error, ErrorKind, Result};
use keyboard::Keyboard;
use sender::Sender;

/// Longest time between two messages, as `joy_node` repeats them.
const EVERY: Duration = Duration::from_millis(50);
/// Time between two looks at keys and sticks.
const LOOK: Duration = Duration::from_millis(5);

pub(super) fn remote(a: &RemoteArguments) -> Result<ExitCode> {
    let stop = stop_on_signal()?;
    let mut gamepad = a.gamepad.as_deref().map(Gamepad::open).transpose()?;
    let mut keyboard = Keyboard::open()?;
    if gamepad.is_none() && keyboard.is_none() {
        return Err(Error::new(
            ErrorKind::Input,
            "standard input is no terminal; it must be one, or give --gamepad /dev/input/js0",
        ));
    }
    let mut sender = Sender::new(a)?;
    if keyboard.is_some() {
        show::line(keyboard::HELP);
    }
    let (mut last, mut sent) = (None, Instant::now());
    while !stop.load(Ordering::Relaxed) && !keyboard.as_ref().is_some_and(Keyboard::has_quit) {
        let mut now = WirelessController::default();
        if let Some(gamepad) = &mut gamepad {
            now = gamepad.read()?;
        }
        if let Some(keyboard) = &mut keyboard {
            now = both(&now, &keyboard.read()?);
        }
        let is_new = last.as_ref() != Some(&now);
        if is_new || sent.elapsed() >= EVERY {
            sender.send(&joy_of(&now))?;
            sent = Instant::now();
        }
        if is_new {
            show::line(&as_text(&now));
            last = Some(now);
        }
        std::thread::sleep(LOOK);
    }
    // the daemon would let go by itself only after a second
    sender.send(&joy_of(&WirelessController::default()))?;
    sender.finish();
    Ok(ExitCode::Done)
}

/// What two remote controls at once ask for.
fn both(a: &WirelessController, b: &WirelessController) -> WirelessController {
    let sum = |x: f32, y: f32| (x + y).clamp(-1.0, 1.0);
    WirelessController {
        lx: sum(a.lx, b.lx),
        ly: sum(a.ly, b.ly),
        rx: sum(a.rx, b.rx),
        ry: sum(a.ry, b.ry),
        keys: a.keys | b.keys,
    }
}

fn as_text(r: &WirelessController) -> String {
    let down = KEYS.iter().enumerate().filter(|(bit, _)| r.keys & (1 << bit) != 0);
    let keys: Vec<&str> = down.map(|(_, name)| *name).collect();
    format!("lx {:.2} ly {:.2} rx {:.2} ry {:.2} {}", r.lx, r.ly, r.rx, r.ry, keys.join("+"))
}
