//! Which ticks of a run are in which of its files.

use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};

use crate::{LogFault, LogReader, LogRecord, NextSegment};

/// A tick of a log, by the state after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TickId {
    /// Run number.
    pub run_id: u32,
    /// Ticks done: the state after the tick has this number.
    pub tick: u64,
}

/// The files of a run, their ticks and keyframes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunIndex {
    /// In the order of the run; none is empty.
    pub segments: Vec<Segment>,
    /// Why the log ended early, if it did.
    pub damage: Option<String>,
}

/// One file of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The file.
    pub file: PathBuf,
    /// Run number.
    pub run_id: u32,
    /// The state before its first tick has this number.
    pub first_tick: u64,
    /// The state after its last tick has this number.
    pub end_tick: u64,
    /// Numbers of the states that are in it completely.
    keyframes: Vec<u64>,
}

impl RunIndex {
    /// Reads through the run that begins in `path`, without running it. `progress` gets bytes read
    /// and bytes in all of the file at hand.
    ///
    /// # Errors
    /// As [`LogReader::open`]; [`ErrorKind::Log`] if the log holds no tick, or its chain breaks.
    pub fn of(path: &Path, mut progress: impl FnMut(u64, u64)) -> Result<Self> {
        let mut log = LogReader::open(path)?;
        let info = log.info().clone();
        let (mut index, mut expected) = (Self::default(), None::<NextSegment>);
        loop {
            let segment = read_segment(&mut log, &mut progress);
            if let Some(fault) = log.fault().filter(|fault| fault.is_broken && log.has_chain()) {
                return Err(fault.refusal());
            }
            let (damage, next) = (log.damage().map(String::from), log.next_segment().cloned());
            match (segment, &expected) {
                (Some(segment), None) => index.segments.push(segment),
                (Some(segment), Some(next)) if next.is_reached(index.end(), segment.first_tick) => {
                    index.segments.push(segment);
                }
                (None, None) => {
                    let why = damage.unwrap_or_else(|| "the run ended before its first".into());
                    let text = format!("{} holds no tick: {why}", path.display());
                    return Err(Error::new(ErrorKind::Log, text));
                }
                (_, Some(next)) => {
                    index.damage = Some(next.is_of_another_run().to_string());
                    return Ok(index);
                }
            }
            let (None, Some(next)) = (&damage, next) else {
                index.damage = damage;
                return Ok(index);
            };
            match next.open(&info, path) {
                Ok(following) => log = following,
                // a file that is missing has not been exchanged
                Err(e) if e.kind() == ErrorKind::Log && log.has_chain() => {
                    let file = next.beside(path);
                    return Err(LogFault::in_header(file, index.end(), e.to_string()).refusal());
                }
                Err(e) => {
                    index.damage = Some(e.to_string());
                    return Ok(index);
                }
            }
            expected = Some(next);
        }
    }

    /// Its files, in order.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        self.segments.iter().map(|segment| segment.file.clone()).collect()
    }

    /// Run number of the first tick.
    #[must_use]
    pub fn run_id(&self) -> u32 {
        self.segments.first().map_or(0, |p| p.run_id)
    }

    /// Ticks done at the end of run `run_id`; `None` if there is no tick of it.
    #[must_use]
    pub fn end_tick(&self, run_id: u32) -> Option<u64> {
        self.segments.iter().filter(|p| p.run_id == run_id).map(|p| p.end_tick).max()
    }

    /// Ticks done at the beginning of run `run_id`; `None` if there is no tick of it.
    #[must_use]
    pub fn first_tick(&self, run_id: u32) -> Option<u64> {
        self.segments.iter().filter(|p| p.run_id == run_id).map(|p| p.first_tick).min()
    }

    /// Number of ticks.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.segments.iter().map(Segment::ticks).sum()
    }

    /// The `n`th tick, counted from 0, by the state after it.
    #[must_use]
    pub fn tick(&self, mut n: u64) -> Option<TickId> {
        for segment in &self.segments {
            if n < segment.ticks() {
                return Some(TickId { run_id: segment.run_id, tick: segment.first_tick + 1 + n });
            }
            n -= segment.ticks();
        }
        None
    }

    /// Where the state number `tick` of run `run_id` can be found by running on from a keyframe,
    /// and the tick after it is there: the file, and the keyframe's number.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with the ticks that there are.
    pub fn before(&self, run_id: u32, tick: u64) -> Result<(&Segment, u64)> {
        let holds = |p: &&Segment| p.run_id == run_id && (p.first_tick..p.end_tick).contains(&tick);
        let found = self.segments.iter().find(holds).and_then(|segment| {
            let keyframe = segment.keyframes.iter().rev().find(|&&k| k <= tick)?;
            Some((segment, *keyframe))
        });
        found.ok_or_else(|| {
            let text = format!("tick {tick} of run {run_id} is not in the log; {}", self.extent());
            Error::new(ErrorKind::Input, text)
        })
    }

    /// What there is, in words.
    fn extent(&self) -> String {
        let mut all: Vec<(u32, u64, u64)> = Vec::new();
        for p in &self.segments {
            match all.last_mut() {
                Some(last) if last.0 == p.run_id && last.2 == p.first_tick => last.2 = p.end_tick,
                _ => all.push((p.run_id, p.first_tick, p.end_tick)),
            }
        }
        let of = |(run_id, first, end): &(u32, u64, u64)| {
            format!("ticks {first} to {} of run {run_id}", end.saturating_sub(1))
        };
        format!("it holds {}", all.iter().map(of).collect::<Vec<_>>().join(", "))
    }

    fn end(&self) -> (u32, u64) {
        self.segments.last().map_or((0, 0), |p| (p.run_id, p.end_tick))
    }
}

impl Segment {
    fn ticks(&self) -> u64 {
        self.end_tick - self.first_tick
    }
}

/// The ticks of a file; `None` if it has none.
fn read_segment(log: &mut LogReader, progress: &mut impl FnMut(u64, u64)) -> Option<Segment> {
    let mut segment: Option<Segment> = None;
    let mut keyframes = Vec::new();
    while let Some(record) = log.next_record() {
        match record {
            LogRecord::Keyframe(keyframe) => {
                keyframes.push(keyframe.tick);
                let (read, all) = log.progress();
                progress(read, all);
            }
            LogRecord::Tick(tick) => match &mut segment {
                Some(segment) => segment.end_tick = tick.tick + 1,
                None => {
                    let (first_tick, end_tick) = (tick.tick, tick.tick + 1);
                    let (file, run_id) = (log.path().to_path_buf(), tick.run_id);
                    let keyframes = Vec::new();
                    segment = Some(Segment { file, run_id, first_tick, end_tick, keyframes });
                }
            },
            LogRecord::State(_) => {}
        }
    }
    segment.map(|segment| Segment { keyframes, ..segment })
}
