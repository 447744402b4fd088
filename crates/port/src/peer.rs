//! A controller's end of shared memory.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{JointCommand, StateReading};
use rustix::fs::{FlockOperation, fcntl_lock};

use crate::Slots;
use crate::packet::{PacketCommand, decode_state, encode_command};

/// Looks for a state without a pause before the thread sleeps between them.
const SPINS: u32 = 20_000;
/// Time between two looks after that.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

/// A controller's end: states in, commands out. One at a time may have the file; the kernel gives
/// the lock back when the process ends, however it ends.
#[derive(Debug)]
pub struct SharedMemory {
    slots: Slots,
    path: PathBuf,
    every_ticks: u64,
    /// Counter of the newest state, and when it came.
    seen: u64,
    heard: Instant,
    sequence: u64,
    /// The last answer, to be sent again if its state comes again.
    answer: Option<PacketCommand>,
    state_bytes: Vec<u8>,
    command_bytes: Vec<u8>,
    /// Locked as long as this has it.
    file: File,
}

impl SharedMemory {
    /// Opens the file that a daemon has made (`shared_memory.path` of its scenario), to answer the
    /// states of ticks that are multiples of `every_ticks`, which is `shared_memory.every_ticks` of
    /// the scenario.
    ///
    /// # Errors
    /// `ErrorKind::File` if there is none, it is none of a daemon, or another controller has it.
    pub fn open(path: &Path, every_ticks: u64) -> Result<Self> {
        let failed = |e: std::io::Error| {
            Error::new(ErrorKind::File, format!("shared memory {}: {e}", path.display()))
        };
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        if fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let text = format!("shared memory {}: another controller has it", path.display());
            return Err(Error::new(ErrorKind::File, text));
        }
        Ok(Self {
            slots: Slots::open(&file).map_err(failed)?,
            path: path.into(),
            every_ticks: every_ticks.max(1),
            seen: 0,
            heard: Instant::now(),
            sequence: 0,
            answer: None,
            state_bytes: Vec::new(),
            command_bytes: Vec::new(),
            file,
        })
    }

    /// The newest state of its ticks that has no answer yet; `None` after `patience` without one.
    /// If a state comes again, so does its answer.
    ///
    /// # Errors
    /// `ErrorKind::Bus` if the daemon has ended.
    pub fn next_state(&mut self, patience: Duration) -> Result<Option<StateReading>> {
        let begin = Instant::now();
        for looks in 0_u32.. {
            if let Some(state) = self.take_state() {
                return Ok(Some(state));
            }
            if looks < SPINS {
                std::hint::spin_loop();
                continue;
            }
            if self.slots.is_lost() {
                // while it is too short, the next look loses it again
                let _mapped = self.slots.map_again(&self.file);
            }
            if self.slots.has_ended() {
                let text = format!("shared memory {}: the daemon has ended", self.path.display());
                return Err(Error::new(ErrorKind::Bus, text));
            }
            if begin.elapsed() >= patience {
                break;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(None)
    }

    fn take_state(&mut self) -> Option<StateReading> {
        if !self.slots.take_state(&mut self.seen, &mut self.state_bytes) {
            return None;
        }
        self.heard = Instant::now();
        let state = decode_state(&self.state_bytes).ok()?;
        let is_its = |a: &PacketCommand| (a.run_id, a.tick) == (state.run_id, state.tick);
        if self.answer.as_ref().is_some_and(is_its) {
            self.put();
            return None;
        }
        state.tick.is_multiple_of(self.every_ticks).then_some(state)
    }

    /// When a state came last, also one that needs no answer; at first, when this was opened.
    #[must_use]
    pub const fn heard(&self) -> Instant {
        self.heard
    }

    /// Answers `state` with set-points for all joints.
    pub fn answer(&mut self, state: &StateReading, joints: &[JointCommand]) {
        self.answer = Some(PacketCommand {
            run_id: state.run_id,
            layout_hash: state.layout_hash,
            sequence: 0,
            tick: state.tick,
            joints: joints.to_vec(),
        });
        self.put();
    }

    /// Writes the last answer under the next sequence number.
    fn put(&mut self) {
        if let Some(answer) = &mut self.answer {
            self.sequence += 1;
            answer.sequence = self.sequence;
            encode_command(answer, &mut self.command_bytes);
            self.slots.put_command(&self.command_bytes);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use hardstand_protocol::{JointCommand, JointReading, StateReading};

    use super::SharedMemory;
    use crate::Slots;
    use crate::packet::{decode_command, encode_state, in_slot};

    const SOON: Duration = Duration::from_millis(5);

    #[test]
    fn a_state_that_comes_again_gets_the_same_answer_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot");
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open().unwrap();
        file.set_len(Slots::file_bytes(1, 1)).unwrap();
        let daemon = Slots::create(&file, (1, 1)).unwrap();
        let mut peer = SharedMemory::open(&path, 2).unwrap();
        let state = |tick| StateReading {
            tick,
            joints: vec![JointReading::default()],
            foot_contact: vec![0],
            foot_normal_n: vec![0.0],
            ..StateReading::default()
        };
        let (mut packet, mut seen, mut command) = (Vec::new(), 0, Vec::new());
        let mut put = |tick, sequence| {
            encode_state(&state(tick), sequence, &mut packet);
            daemon.put_state(&packet);
        };
        put(4, 1);
        let asked = peer.next_state(SOON).unwrap().unwrap();
        assert_eq!(asked, state(4));
        peer.answer(&asked, &[JointCommand { q: 0.5, ..JointCommand::default() }]);
        let mut sent = || {
            let new = daemon.take_command(&mut seen, &mut command);
            new.then(|| decode_command(in_slot(&command)).unwrap())
        };
        let first = sent().unwrap();
        assert_eq!((first.tick, first.sequence, first.joints[0].q), (4, 1, 0.5));
        assert_eq!(sent(), None);
        // the same again, and the state of a tick that is not its turn
        put(4, 2);
        assert_eq!(peer.next_state(SOON).unwrap(), None);
        let again = sent().unwrap();
        assert_eq!((again.tick, again.sequence, again.joints), (4, 2, first.joints));
        put(5, 3);
        assert_eq!(peer.next_state(SOON).unwrap(), None);
        assert_eq!(sent(), None);
        daemon.close();
        assert!(peer.next_state(SOON).unwrap_err().to_string().contains("has ended"));
    }

    #[test]
    fn a_file_that_is_cut_between_two_accesses_ends_neither_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robot");
        let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        let bytes = Slots::file_bytes(1, 1);
        file.set_len(bytes).unwrap();
        let daemon = Slots::create(&file, (1, 1)).unwrap();
        let mut peer = SharedMemory::open(&path, 1).unwrap();
        let joints = vec![JointReading::default()];
        let state = StateReading {
            joints,
            foot_contact: vec![0],
            foot_normal_n: vec![0.0],
            ..StateReading::default()
        };
        let (mut packet, mut seen) = (Vec::new(), 0);
        encode_state(&state, 1, &mut packet);
        for _ in 0..2 {
            file.set_len(0).unwrap();
            daemon.put_state(&packet);
            assert!(daemon.is_lost());
            assert!(!daemon.take_command(&mut seen, &mut Vec::new()));
            assert_eq!(peer.next_state(SOON).unwrap(), None, "cut, but the daemon has not ended");
            // as the daemon makes it whole
            file.set_len(bytes).unwrap();
            daemon.map_again(&file).unwrap();
            assert!(!daemon.is_lost());
            daemon.put_head();
            daemon.put_state(&packet);
            assert_eq!(peer.next_state(SOON).unwrap().unwrap(), state);
        }
        daemon.close();
        assert!(peer.next_state(SOON).is_err());
    }

    #[test]
    fn a_file_that_is_none_of_a_daemon_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |bytes: &[u8]| {
            let path = folder.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            SharedMemory::open(&path, 1).unwrap_err().to_string()
        };
        assert!(refused(b"short").contains("too short"));
        assert!(refused(&[0; 4096]).contains("no shared memory"));
        let forged = |word: u64| {
            let mut bytes = vec![0_u8; 4096];
            bytes[..8].copy_from_slice(&Slots::MAGIC);
            bytes[16..24].copy_from_slice(&word.to_le_bytes());
            bytes
        };
        for size in [1 << 20, u64::MAX, u64::MAX - 7] {
            assert!(refused(&forged(size)).contains("does not fit"), "{size}");
        }
    }
}
