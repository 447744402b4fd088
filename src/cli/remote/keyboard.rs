//! The keyboard of a terminal as a remote control. A terminal does not tell when a key is released:
//! sticks move in steps and stay, buttons are pressed for a moment.

use std::collections::VecDeque;
use std::io::{IsTerminal, Stdin};
use std::time::{Duration, Instant};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use rustix::termios::{tcgetattr, tcsetattr};

use crate::ros2::unitree::{KEYS, WirelessController};
use hardstand_error::{Error, ErrorKind, Result};

/// Time for which a button is down.
const PRESS: Duration = Duration::from_millis(200);
const STEP: f32 = 0.1;

pub(super) const HELP: &str = "\
w s  left stick forward, back        Up Down Left Right  cross
a d  left stick to the left, right   A B X Y             buttons, with Shift
j l  right stick to the left, right  5 select  6 start  7 F1  8 F2
i k  right stick forward, back       1 L1  2 L2  3 R1  4 R2, down until the next button
0    let go of everything            q end";

/// Keys that move a stick: which, and by how many steps.
const STICKS: [(u8, usize, f32); 8] = [
    (b'd', 0, 1.0),
    (b'a', 0, -1.0),
    (b'w', 1, 1.0),
    (b's', 1, -1.0),
    (b'l', 2, 1.0),
    (b'j', 2, -1.0),
    (b'i', 3, 1.0),
    (b'k', 3, -1.0),
];
/// Keys that press a button, and those that hold one until the next.
const BUTTONS: [(u8, &str); 8] = [
    (b'A', "A"),
    (b'B', "B"),
    (b'X', "X"),
    (b'Y', "Y"),
    (b'5', "select"),
    (b'6', "start"),
    (b'7', "F1"),
    (b'8', "F2"),
];
const HOLDS: [(u8, &str); 4] = [(b'1', "L1"), (b'2', "L2"), (b'3', "R1"), (b'4', "R2")];
/// Last bytes of the sequences of the arrows.
const ARROWS: [(u8, &str); 4] = [(b'A', "up"), (b'B', "down"), (b'C', "right"), (b'D', "left")];
const ESCAPE: u8 = 0x1B;

/// A terminal that passes on each key at once; as it was when it is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    stdin: Stdin,
    before: Termios,
    bytes: VecDeque<u8>,
    /// Steps of lx, ly, rx and ry.
    steps: [f32; 4],
    /// Keys that are held until the next button, and the one that is down.
    held: u16,
    pressed: Option<(u16, Instant)>,
    quit: bool,
}

impl Keyboard {
    /// The one of standard input, if that is a terminal.
    pub(super) fn open() -> Result<Option<Self>> {
        let stdin = std::io::stdin();
        if !stdin.is_terminal() {
            return Ok(None);
        }
        let before = tcgetattr(&stdin).map_err(failed)?;
        let mut each = before.clone();
        each.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        // a read does not wait
        each.special_codes[SpecialCodeIndex::VMIN] = 0;
        each.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&stdin, OptionalActions::Now, &each).map_err(failed)?;
        Ok(Some(Self {
            stdin,
            before,
            bytes: VecDeque::new(),
            steps: [0.0; 4],
            held: 0,
            pressed: None,
            quit: false,
        }))
    }

    /// Takes the keys that have come. What the remote control shows then.
    pub(super) fn read(&mut self) -> Result<WirelessController> {
        let mut buffer = [0; 64];
        let count = rustix::io::read(&self.stdin, &mut buffer).map_err(failed)?;
        self.bytes.extend(&buffer[..count]);
        if self.pressed.take_if(|(_, at)| at.elapsed() >= PRESS).is_some() {
            self.held = 0;
        }
        // one button after the other: each is down for its time
        while self.pressed.is_none() && self.take() {}
        let [lx, ly, rx, ry] = self.steps.map(|steps| steps * STEP);
        let keys = self.held | self.pressed.map_or(0, |(key, _)| key);
        Ok(WirelessController { lx, ly, rx, ry, keys })
    }

    pub(super) const fn has_quit(&self) -> bool {
        self.quit
    }

    /// Takes one key; false if there is none.
    fn take(&mut self) -> bool {
        let Some(&byte) = self.bytes.front() else { return false };
        if byte == ESCAPE {
            return self.take_arrow();
        }
        self.bytes.pop_front();
        if let Some((_, stick, way)) = STICKS.iter().find(|(key, ..)| *key == byte) {
            self.steps[*stick] = (self.steps[*stick] + way).clamp(-1.0 / STEP, 1.0 / STEP);
        } else if let Some(key) = key_of(&BUTTONS, byte) {
            self.pressed = Some((key, Instant::now()));
        } else if let Some(key) = key_of(&HOLDS, byte) {
            self.held ^= key;
        } else if byte == b'0' {
            (self.steps, self.held) = ([0.0; 4], 0);
        } else if byte == b'q' {
            self.quit = true;
        }
        true
    }

    /// Takes the three bytes of an arrow; false while they have not all come.
    fn take_arrow(&mut self) -> bool {
        match (self.bytes.get(1), self.bytes.get(2)) {
            (None, _) | (Some(b'['), None) => return false,
            (Some(b'['), Some(&last)) => {
                self.pressed = key_of(&ARROWS, last).map(|key| (key, Instant::now()));
                self.bytes.drain(..3);
            }
            (Some(_), _) => {
                self.bytes.pop_front();
            }
        }
        true
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        let _restored = tcsetattr(&self.stdin, OptionalActions::Now, &self.before);
    }
}

/// The bit of the key that `byte` stands for.
fn key_of(table: &[(u8, &str)], byte: u8) -> Option<u16> {
    let (_, name) = table.iter().find(|(key, _)| *key == byte)?;
    KEYS.iter().position(|key| key == name).map(|bit| 1 << bit)
}

fn failed(e: rustix::io::Errno) -> Error {
    Error::new(ErrorKind::File, format!("the terminal: {e}"))
}
