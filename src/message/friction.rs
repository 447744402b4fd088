//! A change of friction while the daemon runs: asked for, checked, answered.

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::FRICTION_MAX;
use crate::plant::{Event, Rejection, Scope};

use super::{HEADER_BYTES, Kind, VERSION, decode};

/// New coefficients of friction, as somebody outside asks for them. Only [`check_friction`] makes
/// an [`Event`] of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FrictionRequest {
    /// Layout hash of the robot and the regions that are meant.
    pub layout_hash: u64,
    /// Run number.
    pub epoch: u32,
    /// What is meant: 0 all stations, 1 a station, 2 a foot, 3 a region.
    pub scope: u8,
    /// Index of the station, foot or region in the order of `model`; 0 for all stations.
    pub index: u32,
    /// Static coefficient, 0 to [`FRICTION_MAX`].
    pub mu_static: f64,
    /// Kinetic coefficient, 0 to `mu_static`.
    pub mu_kinetic: f64,
}

/// The answer to a [`FrictionRequest`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrictionReply {
    /// 0 accepted, 1 refused, 2 busy: the same request may be accepted later.
    pub verdict: u8,
    /// Accepted: the coefficients hold from the start of this tick on.
    pub tick: u64,
    /// Otherwise: what is wrong, with value and range.
    pub reason: String,
}

/// What is allowed in a [`FrictionRequest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrictionLimits {
    /// Layout hash of the robot.
    pub layout_hash: u64,
    /// Current run.
    pub epoch: u32,
    /// Number of stations, feet and regions.
    pub counts: [u32; 3],
}

/// Why a request was refused: the reason that is counted, and words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The counter.
    pub reason: Rejection,
    /// Field, value and range.
    pub text: String,
}

impl Refusal {
    /// Every reason that a request for friction can be refused for.
    pub const REASONS: [Rejection; 7] = [
        Rejection::Size,
        Rejection::Version,
        Rejection::Layout,
        Rejection::Epoch,
        Rejection::NotFinite,
        Rejection::OutOfRange,
        Rejection::QueueFull,
    ];
}

const BYTES: usize = HEADER_BYTES + 8 + 4 + 1 + 4 + 8 + 8;
/// Names of the scopes that have an index, in the order of [`FrictionLimits::counts`].
const INDEXED: [&str; 3] = ["stations", "feet", "regions"];

impl FrictionRequest {
    /// A request for the run that `layout_hash` and `epoch` name.
    ///
    /// ```
    /// use hardstand::message::FrictionRequest;
    /// use hardstand::plant::Scope;
    ///
    /// let slip = FrictionRequest::new(0x1234, 1, Scope::Foot(2), 0.1, 0.05);
    /// assert_eq!((slip.scope, slip.index), (2, 2));
    /// ```
    #[must_use]
    pub const fn new(
        layout_hash: u64,
        epoch: u32,
        scope: Scope,
        mu_static: f64,
        mu_kinetic: f64,
    ) -> Self {
        let (scope, index) = match scope {
            Scope::All => (0, 0),
            Scope::Station(i) => (1, i),
            Scope::Foot(i) => (2, i),
            Scope::Region(i) => (3, i),
        };
        Self { layout_hash, epoch, scope, index, mu_static, mu_kinetic }
    }
}

impl FrictionReply {
    /// Applies from `tick` on.
    #[must_use]
    pub const fn accepted(tick: u64) -> Self {
        Self { verdict: 0, tick, reason: String::new() }
    }

    /// Changes nothing.
    #[must_use]
    pub fn refused(refusal: Refusal) -> Self {
        let verdict = if refusal.reason == Rejection::QueueFull { 2 } else { 1 };
        Self { verdict, tick: 0, reason: refusal.text }
    }

    /// The tick from which on the coefficients hold.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if the request was refused, [`ErrorKind::Bus`] if the daemon was busy.
    pub fn tick(self) -> Result<u64> {
        match self.verdict {
            0 => Ok(self.tick),
            1 => Err(Error::new(ErrorKind::Input, self.reason)),
            _ => Err(Error::new(ErrorKind::Bus, self.reason)),
        }
    }
}

/// Makes an event of the bytes of a request, if all is well.
///
/// # Errors
/// The first [`Refusal`] that applies, in the order size (of the header), version, size, layout,
/// epoch, scope and index, coefficients. It is never one of those that depend on an owner.
pub fn check_friction(
    bytes: &[u8],
    limits: &FrictionLimits,
) -> std::result::Result<Event, Refusal> {
    let refuse = |reason, text| Err(Refusal { reason, text });
    let size = || format!("the request is {} bytes long; it must be {BYTES}", bytes.len());
    let header = [b'H', b'S', VERSION, Kind::Friction as u8];
    match bytes.get(..HEADER_BYTES) {
        None => return refuse(Rejection::Size, size()),
        Some(got) if got != header => {
            let text = format!("the header is {got:02x?}; it must be {header:02x?}");
            return refuse(Rejection::Version, text);
        }
        Some(_) => {}
    }
    let Some(r) = decode::<FrictionRequest>(Kind::Friction, bytes).ok() else {
        return refuse(Rejection::Size, size());
    };
    let FrictionLimits { layout_hash, epoch, .. } = *limits;
    if r.layout_hash != layout_hash {
        let got = r.layout_hash;
        let text = format!("layout_hash is {got:016x}; it must be {layout_hash:016x}, see model");
        return refuse(Rejection::Layout, text);
    }
    if r.epoch != epoch {
        return refuse(Rejection::Epoch, format!("epoch is {}; it must be {epoch}", r.epoch));
    }
    let scope = scope_of(&r, limits)?;
    coefficient("mu_static", r.mu_static, FRICTION_MAX, "")?;
    coefficient("mu_kinetic", r.mu_kinetic, r.mu_static, "mu_static, which is ")?;
    Ok(Event::Friction { scope, mu_static: r.mu_static, mu_kinetic: r.mu_kinetic })
}

fn scope_of(r: &FrictionRequest, limits: &FrictionLimits) -> std::result::Result<Scope, Refusal> {
    let refuse = |text| Err(Refusal { reason: Rejection::OutOfRange, text });
    let (index, kind) = (r.index, usize::from(r.scope));
    let scope = match r.scope {
        0 if index == 0 => return Ok(Scope::All),
        0 => {
            return refuse(format!("index is {index}; it must be 0 when scope is 0, all stations"));
        }
        1 => Scope::Station(index),
        2 => Scope::Foot(index),
        3 => Scope::Region(index),
        _ => return refuse(format!("scope is {}; it must be 0 to 3", r.scope)),
    };
    let (count, name) = (limits.counts[kind - 1], INDEXED[kind - 1]);
    match count.checked_sub(1) {
        Some(last) if index > last => {
            refuse(format!("index is {index}; it must be 0 to {last}, the {name}"))
        }
        None => refuse(format!("scope is {kind}; this scenario has no {name}")),
        Some(_) => Ok(scope),
    }
}

/// NaN fails every comparison; the reason tells it from a number that is too large.
fn coefficient(
    name: &str,
    value: f64,
    max: f64,
    max_name: &str,
) -> std::result::Result<(), Refusal> {
    if (0.0..=max).contains(&value) {
        return Ok(());
    }
    let finite = value.is_finite();
    let reason = if finite { Rejection::OutOfRange } else { Rejection::NotFinite };
    Err(Refusal { reason, text: format!("{name} is {value}; it must be 0 to {max_name}{max}") })
}

const _: () = assert!(BYTES == 37);
