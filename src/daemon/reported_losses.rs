//! What was reported about the log to the caller of the daemon.

use hardstand_log::WrittenLog;

use super::Happening;

/// How much of what went wrong has been reported.
#[derive(Debug, Default)]
pub(super) struct ReportedLosses {
    losses: usize,
    error: bool,
}

impl ReportedLosses {
    /// Reports what is new while the run goes on.
    pub(super) fn report(&mut self, log: &WrittenLog, watch: &mut impl FnMut(Happening<'_>)) {
        let goes_on = "the recording goes on in another file with the next keyframe";
        for loss in log.losses.iter().skip(self.losses) {
            watch(Happening::Log(&format!("{loss}; {goes_on}")));
        }
        self.losses = self.losses.max(log.losses.len());
        self.report_error(log, watch);
    }

    /// Reports the rest after the run.
    pub(super) fn report_rest(&mut self, log: &WrittenLog, watch: &mut impl FnMut(Happening<'_>)) {
        log.losses.iter().skip(self.losses).for_each(|loss| watch(Happening::Log(loss)));
        self.report_error(log, watch);
    }

    fn report_error(&mut self, log: &WrittenLog, watch: &mut impl FnMut(Happening<'_>)) {
        if let Some(e) = &log.error
            && !std::mem::replace(&mut self.error, true)
        {
            watch(Happening::Log(&format!("recording ended early: {e}")));
        }
    }
}
