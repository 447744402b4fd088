//! Ids of the drives on one bus: which a motor can have, and where two of them overlap.

use super::buses::{BusDrive, Motor};

/// Where a drive of the MIT mini cheetah sends its feedback.
const MINI_CHEETAH_MASTER: u16 = 0;
/// Where every Damiao takes orders about its registers.
const DAMIAO_REGISTERS: u16 = 0x7ff;

/// The smallest and the largest id of a motor. The ids beyond are its master's, those of all motors
/// of the kind at once, or more than its field on the wire holds.
pub(super) const fn range(motor: &Motor) -> (u32, u32) {
    match motor {
        Motor::Moteus(_) | Motor::Damiao(..) | Motor::CyberGear(_) | Motor::MiniCheetah => (1, 126),
        Motor::Cia402(..) => (1, 64),
        Motor::ODrive => (0, 62),
        Motor::GoM8010 => (0, 14),
        Motor::UDriver(_) => (0, 11),
    }
}

/// Whether the drive takes a frame with this 11-bit identifier as one for itself.
const fn takes(drive: &BusDrive, identifier: u16) -> bool {
    let own = drive.id as u16;
    match drive.motor {
        Motor::Damiao(..) => identifier == own || identifier == DAMIAO_REGISTERS,
        Motor::MiniCheetah => identifier == own,
        Motor::ODrive => identifier >> 5 == own,
        Motor::Moteus(_) => identifier & 0xff == own || identifier & 0xff == 0x7f,
        Motor::CyberGear(_) | Motor::GoM8010 | Motor::Cia402(..) | Motor::UDriver(_) => false,
    }
}

/// What is wrong if a frame for `drive`, or its feedback, is also a command for one of `all`.
pub(super) fn overlap(drive: &BusDrive, all: &[BusDrive]) -> Option<String> {
    let own = u16::from(drive.id);
    let (plain, feedback) = match drive.motor {
        Motor::Damiao(_, master) => (true, Some(master)),
        Motor::MiniCheetah => (true, Some(MINI_CHEETAH_MASTER)),
        _ => (false, None),
    };
    if let Some(feedback) = feedback
        && let Some(other) = all.iter().find(|other| takes(other, feedback))
    {
        let text = format!(
            "the feedback has the identifier {feedback}, which is a command for the drive with id \
             {}; another id or master_id is needed",
            other.id
        );
        return Some(text);
    }
    let mut others = all.iter().filter(|other| other.id != drive.id);
    let other = others.find(|other| plain && takes(other, own))?;
    Some(format!("a command for id {own} is also one for the drive with id {}", other.id))
}
