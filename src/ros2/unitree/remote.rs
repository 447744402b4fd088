//! Sticks and keys of Unitree's remote control, as a `sensor_msgs/Joy` has them.
//!
//! Axes and buttons have the numbers and signs that `joy_node` gives those of an Xbox controller:
//! to the left and forward is positive, a trigger goes from 1 to −1.

use super::sport::WirelessController;
use crate::ros2::messages::Joy;

/// Names of the keys, in the order of their bits. Source: `xKeySwitchUnion` of unitree_sdk2.
pub const KEYS: [&str; 16] = [
    "R1", "L1", "start", "select", "R2", "L2", "F1", "F2", "A", "B", "X", "Y", "up", "right",
    "down", "left",
];

/// Number of each button, and the bit of its key.
const BUTTONS: [(usize, u16); 10] =
    [(0, 8), (1, 9), (2, 10), (3, 11), (4, 1), (5, 0), (6, 3), (7, 2), (9, 6), (10, 7)];
/// Axes that are keys: number, bits of the keys at its positive and its negative end.
const CROSS: [(usize, u16, u16); 2] = [(6, 15, 13), (7, 12, 14)];
/// Triggers: number of the axis, bit of the key.
const TRIGGERS: [(usize, u16); 2] = [(2, 5), (5, 4)];
const AXES: usize = 8;
const BUTTON_COUNT: usize = 11;
/// Share of its way at which an axis is a key that is down.
const DOWN: f32 = 0.5;

/// A stick's place; a number that is none is at rest.
const fn place(x: f32) -> f32 {
    if x.is_finite() { x.clamp(-1.0, 1.0) } else { 0.0 }
}

/// The same remote control with its sticks within their ends.
#[must_use]
pub fn within_ends(remote: &WirelessController) -> WirelessController {
    let [lx, ly, rx, ry] = [remote.lx, remote.ly, remote.rx, remote.ry].map(place);
    WirelessController { lx, ly, rx, ry, keys: remote.keys }
}

/// The remote control that a message stands for. An axis or button that is not there rests.
#[must_use]
pub fn remote_of(joy: &Joy) -> WirelessController {
    let axis = |i: usize| joy.axes.get(i).copied().map_or(0.0, place);
    let mut keys = 0;
    let mut press = |bit: u16, down: bool| keys |= u16::from(down) << bit;
    for (i, bit) in BUTTONS {
        press(bit, joy.buttons.get(i).is_some_and(|&state| state != 0));
    }
    for (i, bit) in TRIGGERS {
        press(bit, axis(i) < -DOWN);
    }
    for (i, positive, negative) in CROSS {
        press(positive, axis(i) > DOWN);
        press(negative, axis(i) < -DOWN);
    }
    // not −0
    let right = |i: usize| 0.0 - axis(i);
    WirelessController { lx: right(0), ly: axis(1), rx: right(3), ry: axis(4), keys }
}

/// The message that stands for a remote control.
#[must_use]
pub fn joy_of(remote: &WirelessController) -> Joy {
    let mut joy = resting();
    let is_down = |bit: u16| remote.keys & (1 << bit) != 0;
    for (i, bit) in BUTTONS {
        joy.buttons[i] = i32::from(is_down(bit));
    }
    for (i, bit) in TRIGGERS {
        joy.axes[i] = if is_down(bit) { -1.0 } else { 1.0 };
    }
    for (i, positive, negative) in CROSS {
        joy.axes[i] = f32::from(is_down(positive)) - f32::from(is_down(negative));
    }
    let sticks = [(0, -remote.lx), (1, remote.ly), (3, -remote.rx), (4, remote.ry)];
    for (i, value) in sticks {
        joy.axes[i] = value;
    }
    joy
}

/// A message of which nothing is pressed.
#[must_use]
pub fn resting() -> Joy {
    let mut joy =
        Joy { axes: vec![0.0; AXES], buttons: vec![0; BUTTON_COUNT], ..Default::default() };
    for (i, _) in TRIGGERS {
        joy.axes[i] = 1.0;
    }
    joy
}
