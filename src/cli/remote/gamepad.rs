//! A game controller as Linux shows it under `/dev/input/js0`: events of eight bytes.
//!
//! Source: the kernel's `Documentation/input/joydev/joystick-api.rst` and `linux/joystick.h`.

use std::fs::File;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::ros2::messages::Joy;
use crate::ros2::unitree::{WirelessController, remote_of, resting};
use hardstand_error::{Error, ErrorKind, Result};

/// Time (ms) u32, value i16, kind u8, number u8.
const EVENT_BYTES: usize = 8;
/// Kinds of events; what holds when the file is opened comes with a further bit.
const BUTTON: u8 = 1;
const AXIS: u8 = 2;
const AT_BEGIN: u8 = 0x80;
/// Axes and buttons beyond this number say nothing.
const NUMBERS: u8 = 32;
/// A stick that is let go rests within this of its middle.
const DEAD: f32 = 0.05;

/// An open game controller.
#[derive(Debug)]
pub(super) struct Gamepad {
    file: File,
    name: String,
    joy: Joy,
    /// Bytes of an event that has not come as a whole.
    rest: Vec<u8>,
}

impl Gamepad {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::NONBLOCK.bits() as i32;
        let opened = File::options().read(true).custom_flags(flags).open(path);
        let name = path.display().to_string();
        let file = opened.map_err(|e| failed(&name, &e))?;
        Ok(Self { file, name, joy: resting(), rest: Vec::new() })
    }

    /// Takes the events that have come. What it shows then.
    pub(super) fn read(&mut self) -> Result<WirelessController> {
        let mut buffer = [0; 64 * EVENT_BYTES];
        match self.file.read(&mut buffer) {
            Ok(count) => self.rest.extend_from_slice(&buffer[..count]),
            Err(e) if e.kind() == IoErrorKind::WouldBlock => {}
            Err(e) => return Err(failed(&self.name, &e)),
        }
        let whole = self.rest.len() - self.rest.len() % EVENT_BYTES;
        for event in self.rest[..whole].chunks_exact(EVENT_BYTES) {
            take(&mut self.joy, event);
        }
        self.rest.drain(..whole);
        Ok(remote_of(&self.joy))
    }
}

fn take(joy: &mut Joy, event: &[u8]) {
    let &[_, _, _, _, low, high, kind, number] = event else { return };
    if number >= NUMBERS {
        return;
    }
    let (number, value) = (usize::from(number), i16::from_le_bytes([low, high]));
    match kind & !AT_BEGIN {
        BUTTON => *place(&mut joy.buttons, number) = i32::from(value != 0),
        AXIS => {
            // to the right, and to the back, is positive here
            let x = -f32::from(value) / f32::from(i16::MAX);
            *place(&mut joy.axes, number) = if x.abs() < DEAD { 0.0 } else { x };
        }
        _ => {}
    }
}

fn place<T: Clone + Default>(list: &mut Vec<T>, number: usize) -> &mut T {
    if list.len() <= number {
        list.resize(number + 1, T::default());
    }
    &mut list[number]
}

fn failed(name: &str, e: &std::io::Error) -> Error {
    Error::new(ErrorKind::File, format!("game controller {name}: {e}"))
}
