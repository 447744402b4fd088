//! An independent model of who commands a robot of two joints, and the properties of each tick.
//! Written from docs/protocol.md, not from the code.

use hardstand::simulation::WatchdogSpec;
use hardstand_protocol::{Authority, CommandSchedule, Verdict};

/// Joints of the robot.
pub const JOINTS: usize = 2;
/// Sessions have the numbers 1 to this one.
pub const SESSIONS: usize = 5;
/// Sessions up to this number join as controllers; the others command without having joined.
pub const CONTROLLERS: usize = 3;

/// What a joint obeys while its command is held: the set-points of a session, or one of these.
pub const NOTHING: u8 = 0;
pub const DAMPER: u8 = 9;

/// What is the same in all ticks.
#[derive(Clone, Copy)]
pub struct Rules {
    pub watchdog: WatchdogSpec,
    pub schedules: [CommandSchedule; CONTROLLERS],
}

impl Rules {
    /// Ticks for which a command of a session is held.
    pub fn grace(&self, session: usize) -> u8 {
        let extra = match session {
            1..=CONTROLLERS => {
                let CommandSchedule { period, offset, .. } = self.schedules[session - 1];
                period + offset
            }
            _ => 0,
        };
        (self.watchdog.hold_ticks + extra) as u8
    }

    /// Older than this, nothing changes any more.
    pub fn age_max(&self) -> u8 {
        let longest = (1..=SESSIONS).map(|s| self.grace(s)).max().unwrap_or(0);
        longest + self.watchdog.damped_ticks as u8 + 2
    }
}

/// What happens before the commands of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// A controller joins with these joints.
    Join(usize, [bool; JOINTS]),
    Leave(usize),
    Stop,
    Arm,
    /// All controllers are gone; the run goes on with others.
    Dismiss,
}

/// A command of a tick, as the model sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    pub session: usize,
    /// Age of the state that it answers.
    pub answers_back: u8,
    /// It answers the newest state that can apply, and the session has not done so before.
    pub is_due: bool,
    /// It has as many set-points as its session has joints.
    pub fits: bool,
}

/// The model's state. Ages are those at the start of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Oracle {
    pub stopped: bool,
    /// The controller of each joint; 0 if none has it.
    pub owner: [usize; JOINTS],
    pub obeys: [u8; JOINTS],
    /// The session that commands, or commanded, all joints without having joined.
    pub unjoined: usize,
    /// Ticks since the command in force, by session.
    pub age: [u8; SESSIONS + 1],
    /// So many of the newest states a controller may still answer, each once.
    pub open: [u8; CONTROLLERS + 1],
    /// Ticks since the emergency stop ended.
    pub armed: u8,
    /// The session has left, was lost, or another took its place: nothing of it counts until it
    /// joins.
    pub over: [bool; SESSIONS + 1],
    /// Commands in a row that prove life, and the age of the last one.
    pub proofs: [(u8, u8); SESSIONS + 1],
}

impl Oracle {
    pub fn new() -> Self {
        Self {
            stopped: false,
            owner: [0; JOINTS],
            obeys: [NOTHING; JOINTS],
            unjoined: 0,
            age: [0; SESSIONS + 1],
            open: [0; CONTROLLERS + 1],
            armed: u8::MAX,
            over: [false; SESSIONS + 1],
            proofs: [(0, 0); SESSIONS + 1],
        }
    }

    /// What the future depends on.
    pub fn words(&self) -> Vec<u8> {
        let mut words = vec![u8::from(self.stopped), self.unjoined as u8, self.armed];
        words.extend(self.owner.map(|owner| owner as u8));
        words.extend(self.obeys);
        for session in 1..=SESSIONS {
            let commands = self.commands(session);
            words.push(if commands { self.age[session] } else { 0 });
            words.push(u8::from(self.over[session] || session <= CONTROLLERS && !commands));
        }
        for controller in 1..=CONTROLLERS {
            let commands = self.commands(controller);
            words.push(if commands { self.open[controller] } else { 0 });
        }
        words.extend(self.proofs.iter().flat_map(|&(count, age)| [count, age]));
        words
    }

    fn rung(&self, rules: &Rules, session: usize) -> Authority {
        let (age, grace) = (self.age[session], rules.grace(session));
        match session {
            0 => Authority::Zero,
            _ if age <= grace => Authority::Held,
            _ if u64::from(age - grace) <= rules.watchdog.damped_ticks => Authority::Damped,
            _ => Authority::Zero,
        }
    }

    fn rung_of_joint(&self, rules: &Rules, joint: usize) -> Authority {
        let owner = self.owner[joint];
        self.rung(rules, if owner == 0 { self.unjoined } else { owner })
    }

    /// True if joints obey a session, or have obeyed it last.
    fn commands(&self, session: usize) -> bool {
        self.owner.contains(&session) || self.unjoined == session
    }

    /// True if a session that commands joints has neither gone nor been too late.
    pub fn lives(&self, rules: &Rules, session: usize) -> bool {
        self.commands(session)
            && !self.over[session]
            && self.rung(rules, session) == Authority::Held
    }

    fn any_controller_lives(&self, rules: &Rules) -> bool {
        (1..=CONTROLLERS).any(|s| self.lives(rules, s))
    }

    /// The answer that a controller must get that wants to join.
    pub fn answer_to_join(
        &self,
        rules: &Rules,
        controller: usize,
        joints: [bool; JOINTS],
    ) -> Result<(), (Option<usize>, usize)> {
        if self.unjoined != 0 && !self.stopped && self.lives(rules, self.unjoined) {
            return Err((None, self.unjoined));
        }
        for joint in (0..JOINTS).filter(|&joint| joints[joint]) {
            let owner = self.owner[joint];
            if owner != 0 && owner != controller && self.lives(rules, owner) {
                return Err((Some(joint), owner));
            }
        }
        Ok(())
    }

    fn end_unjoined(&mut self) {
        self.over[self.unjoined] = true;
        self.over[0] = false;
    }

    pub fn happens(&mut self, rules: &Rules, happening: Happening) {
        match happening {
            Happening::Join(controller, joints) => self.hand_over(rules, controller, joints),
            Happening::Leave(controller) => self.over[controller] = true,
            Happening::Stop => {
                self.note_lost(rules);
                self.stopped = true;
                self.obeys = [DAMPER; JOINTS];
                self.end_unjoined();
                self.proofs = [(0, 0); SESSIONS + 1];
            }
            Happening::Arm if !self.stopped => {}
            Happening::Arm => {
                (self.stopped, self.armed) = (false, 0);
                self.age = [0; SESSIONS + 1];
                self.open = self.open.map(|open| open.min(1));
            }
            Happening::Dismiss => {
                for session in 1..=CONTROLLERS {
                    self.over[session] = true;
                }
                self.end_unjoined();
                self.proofs = [(0, 0); SESSIONS + 1];
            }
        }
    }

    /// A controller joins with some joints, and gives back those that it had. Joints go on as they
    /// are until its first command.
    fn hand_over(&mut self, rules: &Rules, controller: usize, joints: [bool; JOINTS]) {
        let rungs: [Authority; JOINTS] =
            std::array::from_fn(|joint| self.rung_of_joint(rules, joint));
        for (joint, is_wanted) in joints.into_iter().enumerate() {
            if !is_wanted {
                if self.owner[joint] == controller {
                    self.owner[joint] = 0;
                }
                continue;
            }
            self.obeys[joint] = match rungs[joint] {
                _ if self.stopped => DAMPER,
                Authority::Held => self.obeys[joint],
                Authority::Damped => DAMPER,
                _ => NOTHING,
            };
            self.over[self.owner[joint]] = true;
            self.owner[joint] = controller;
        }
        (self.over[0], self.over[controller]) = (false, false);
        (self.age[controller], self.open[controller]) = (0, 1);
    }

    /// A session that was too late does not come back by itself. While the robot is stopped nobody
    /// can be in time.
    fn note_lost(&mut self, rules: &Rules) {
        for session in 1..=SESSIONS {
            let late = self.rung(rules, session) != Authority::Held;
            self.over[session] |= late && self.commands(session) && !self.stopped;
        }
    }

    /// Checks the verdicts on the commands of a tick and lets those that were accepted act; the
    /// authority of the tick.
    pub fn judged(
        &mut self,
        rules: &Rules,
        commands: &[(Offered, Verdict)],
    ) -> Result<Authority, String> {
        self.note_lost(rules);
        let mut acting = [0; JOINTS];
        for &(offered, verdict) in commands {
            let session = offered.session;
            let is_owed =
                offered.is_due && offered.fits && !self.stopped && self.lives(rules, session);
            match verdict {
                Verdict::Accepted => self.acts(rules, offered)?,
                Verdict::Proving => self.proves(rules, session)?,
                Verdict::Rejected(reason) if is_owed && !acting.contains(&session) => {
                    return Err(format!("the owner's command {offered:?} was refused: {reason:?}"));
                }
                Verdict::Rejected(_) => {}
            }
            if verdict != Verdict::Accepted {
                continue;
            }
            for (joint, acts) in acting.iter_mut().enumerate() {
                if self.owner[joint] == session || session > CONTROLLERS {
                    if *acts != 0 && *acts != session {
                        return Err(format!("joint {joint}: {acts} and {session} act"));
                    }
                    *acts = session;
                    self.obeys[joint] = session as u8;
                }
            }
        }
        Ok(self.weakest(rules, acting))
    }

    /// A command was accepted: it must not be one of those that nothing obeys.
    fn acts(&mut self, rules: &Rules, offered: Offered) -> Result<(), String> {
        let session = offered.session;
        let objection = if self.stopped {
            "after the stop"
        } else if self.over[session] {
            "but its session is over"
        } else if !offered.fits {
            "but has the wrong size"
        } else if offered.answers_back > self.armed {
            "but is from before the stop ended"
        } else if session > CONTROLLERS {
            return self.takes_all(rules, offered);
        } else if !self.lives(rules, session) {
            "but has no joints, or has lost them"
        } else if offered.answers_back >= self.open[session] {
            "but its state was answered before"
        } else {
            (self.age[session], self.open[session]) = (0, offered.answers_back);
            return Ok(());
        };
        Err(format!("{offered:?} acts, {objection}"))
    }

    /// A command without a lease was accepted: all joints obey its session.
    fn takes_all(&mut self, rules: &Rules, offered: Offered) -> Result<(), String> {
        let session = offered.session;
        if self.any_controller_lives(rules) {
            return Err(format!("{offered:?} acts beside a controller that has joined"));
        }
        if session == self.unjoined {
            self.age[session] = self.age[session].min(offered.answers_back);
        } else {
            if self.unjoined != 0 && self.lives(rules, self.unjoined) {
                return Err(format!("{offered:?} takes the robot from its owner"));
            }
            self.proves(rules, session)?;
            let (count, _) = std::mem::take(&mut self.proofs[session]);
            if u64::from(count) < rules.watchdog.proof_commands {
                return Err(format!("{offered:?} acts after {count} proofs of life"));
            }
            self.end_unjoined();
            (self.unjoined, self.age[session]) = (session, offered.answers_back);
        }
        for controller in 1..=CONTROLLERS {
            self.over[controller] |= self.owner.contains(&controller);
        }
        self.owner = [0; JOINTS];
        Ok(())
    }

    fn proves(&mut self, rules: &Rules, session: usize) -> Result<(), String> {
        if session <= CONTROLLERS || self.over[session] || self.stopped {
            return Err(format!("session {session} must not prove life"));
        }
        let (count, age) = self.proofs[session];
        let in_a_row = u64::from(age) <= rules.watchdog.hold_ticks;
        let more = count.saturating_add(1).min(rules.watchdog.proof_commands as u8);
        self.proofs[session] = (if in_a_row { more } else { 1 }, 0);
        Ok(())
    }

    fn weakest(&self, rules: &Rules, acting: [usize; JOINTS]) -> Authority {
        if self.stopped {
            return Authority::Stopped;
        }
        let weakness = |authority: &Authority| match authority {
            Authority::Fresh => 0,
            Authority::Held => 1,
            Authority::Damped | Authority::Stopped => 2,
            Authority::Zero => 3,
        };
        let of_joint = |joint: usize| match acting[joint] {
            0 => self.rung_of_joint(rules, joint),
            _ => Authority::Fresh,
        };
        let joined = (0..JOINTS).filter(|&joint| self.owner[joint] != 0);
        let weakest = joined.map(of_joint).max_by_key(weakness);
        weakest.unwrap_or_else(|| of_joint(0))
    }

    /// What each joint's drive must do in this tick.
    pub fn obeyed(&self, rules: &Rules, joint: usize) -> u8 {
        match self.rung_of_joint(rules, joint) {
            _ if self.stopped => DAMPER,
            Authority::Held => self.obeys[joint],
            Authority::Damped => DAMPER,
            _ => NOTHING,
        }
    }

    /// Age of the newest answer to a joint at the end of a tick; `None` if nobody commands it.
    pub fn age_of_joint(&self, joint: usize) -> Option<u8> {
        match (self.owner[joint], self.unjoined) {
            (0, 0) => None,
            (0, unjoined) => Some(self.age[unjoined]),
            (owner, _) => Some(self.open[owner]),
        }
    }

    pub fn end_tick(&mut self, rules: &Rules) {
        for age in &mut self.age[1..] {
            *age = (*age + 1).min(rules.age_max());
        }
        for open in &mut self.open {
            *open = (*open + 1).min(rules.age_max());
        }
        self.armed = self.armed.saturating_add(1);
        if self.armed > rules.age_max() {
            self.armed = u8::MAX;
        }
        for (count, age) in self.proofs.iter_mut().filter(|(count, _)| *count > 0) {
            *age += 1;
            if u64::from(*age) > rules.watchdog.hold_ticks {
                (*count, *age) = (0, 0);
            }
        }
    }
}
