//! What the caller of the daemon has been told about the log.

use hardstand_log::WrittenLog;

use super::Happening;

/// So much of what went wrong has been told.
#[derive(Debug, Default)]
pub(super) struct Told {
    losses: usize,
    error: bool,
}

impl Told {
    /// Tells what is new while the run goes on.
    pub(super) fn tell(&mut self, log: &WrittenLog, watch: &mut impl FnMut(Happening<'_>)) {
        let goes_on = "the recording goes on in another file with the next keyframe";
        for loss in log.losses.iter().skip(self.losses) {
            watch(Happening::Log(&format!("{loss}; {goes_on}")));
        }
        self.losses = self.losses.max(log.losses.len());
        self.tell_error(log, watch);
    }

    /// Tells the rest after the run.
    pub(super) fn tell_rest(&mut self, log: &WrittenLog, watch: &mut impl FnMut(Happening<'_>)) {
        log.losses.iter().skip(self.losses).for_each(|loss| watch(Happening::Log(loss)));
        self.tell_error(log, watch);
    }

    fn tell_error(&mut self, log: &WrittenLog, watch: &mut impl FnMut(Happening<'_>)) {
        if let Some(e) = &log.error
            && !std::mem::replace(&mut self.error, true)
        {
            watch(Happening::Log(&format!("recording ended early: {e}")));
        }
    }
}
