//! The exit codes of the program.

use hardstand_error::ErrorKind;

/// Why the program ended, as the exit code of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// The command succeeded.
    Done = 0,
    /// The result is negative.
    Negative = 1,
    /// A file, key, value or argument was refused.
    Refused = 2,
    /// A log, a recording or a table is incomplete.
    Incomplete = 3,
    /// Real-time rights, or the sandbox, were required and refused.
    RealTime = 4,
    /// The bus could not be opened, or a peer did not answer.
    Bus = 5,
    /// The plant stopped itself.
    PlantFailure = 6,
    /// A deadline could not be kept.
    Overrun = 7,
    /// A controller did not join, did not answer in time, or ended early.
    ControllerTimeout = 8,
    /// A defect of this program.
    Internal = 70,
}

impl ExitCode {
    /// All exit codes, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Negative,
        Self::Refused,
        Self::Incomplete,
        Self::RealTime,
        Self::Bus,
        Self::PlantFailure,
        Self::Overrun,
        Self::ControllerTimeout,
        Self::Internal,
    ];

    /// The number that the parent process sees.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// What it means, as `--help` and docs/cli.md print it.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "the command succeeded",
            Self::Negative => {
                "the result is negative: the demo's robot does not stand, a replay, branch or \
                 certified run differs, bisect has found a tick, a case of a campaign meets \
                 fail_if or is worse than before, hunt has found a case, verify finds no chain, \
                 compare is above a limit, a new robot does not stand, a certificate is not \
                 confirmed, or the machine is not fit for real time"
            }
            Self::Refused => {
                "a file, key, value or argument was refused, or output cannot be written"
            }
            Self::Incomplete => {
                "a log is damaged or cut short, recording ended early or missed ticks, a file of \
                 the log was removed or changed during the run, cases of a campaign are missing, \
                 or a hunt or a measurement of pushes was stopped"
            }
            Self::RealTime => "real-time rights, or the sandbox, were required and refused",
            Self::Bus => {
                "the bus could not be opened, too few files or threads are allowed, or a peer did \
                 not answer"
            }
            Self::PlantFailure => "the plant stopped itself",
            Self::Overrun => {
                "a deadline was missed under realtime.overrun = \"stop\", or the monotonic clock \
                 went back"
            }
            Self::ControllerTimeout => {
                "a controller did not join, did not answer within control.patience_s, or ended \
                 early"
            }
            Self::Internal => "a defect of this program: please report it with the log",
        }
    }
}

impl From<ErrorKind> for ExitCode {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Input | ErrorKind::File => Self::Refused,
            ErrorKind::Log => Self::Incomplete,
            ErrorKind::RealTime => Self::RealTime,
            ErrorKind::Bus => Self::Bus,
            ErrorKind::Internal => Self::Internal,
        }
    }
}
