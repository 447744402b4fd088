//! What a drive remembers from micro-step to micro-step.

use super::{Drive, Interpolation, Measured, Rotor, StictionState, Temperatures};

/// The state of a joint's drive: fixed in size, all of it in snapshot and digest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveState {
    /// What the encoder has shown last.
    pub measured: Measured,
    /// Time since it was read, s.
    pub(super) since_read_s: f64,
    /// Torque that the drive wants, N·m; held between two runs of its control.
    pub(super) target_nm: f64,
    /// Torque of the motor at the joint, before gear and friction, N·m.
    pub torque_nm: f64,
    pub(super) interpolation: Interpolation,
    /// Time since the last command that arrived, s.
    pub(super) since_command_s: f64,
    pub(super) stiction: StictionState,
    /// The motor's side of the gear, at the joint; that of a rigid drive moves with the joint.
    pub rotor: Rotor,
    /// Temperatures.
    pub temperatures: Temperatures,
    /// Speed of the joint a micro-step before, rad/s, and the effort on it since, N·m.
    pub(super) dq_before: f64,
    pub(super) effort_before_nm: f64,
    /// [Flags](super::flags).
    pub flags: u64,
}

impl DriveState {
    /// At rest at the start of a run: `q` and `dq` are the joint's.
    #[must_use]
    pub fn new(drive: &Drive, q: f64, dq: f64) -> Self {
        let shown = drive.encoder.shown_rad(q);
        let (measured, rotor) = (Measured { q: shown, dq }, Rotor { q, dq });
        let celsius = drive.heat.air_c;
        Self {
            measured,
            rotor,
            interpolation: Interpolation::at_rest(shown),
            stiction: StictionState { anchor_rad: q },
            temperatures: Temperatures { winding_c: celsius, housing_c: celsius },
            dq_before: dq,
            ..Self::default()
        }
    }

    /// The joint was put elsewhere, `by` further and `faster` than it was: all that has a place in
    /// it moves along, so that teeth lean and springs are stretched as they were.
    pub(crate) fn carry(&mut self, by: f64, faster: f64) {
        self.stiction.anchor_rad += by;
        self.rotor.q += by;
        self.rotor.dq += faster;
        self.dq_before += faster;
    }

    /// The numbers that motion and supply can drive anywhere.
    pub(crate) fn numbers(&self) -> [f64; 7] {
        let Temperatures { winding_c, housing_c } = self.temperatures;
        let measured = self.measured.dq;
        let efforts = [self.target_nm, self.torque_nm, self.effort_before_nm];
        let [target, torque, before] = efforts;
        [measured, target, torque, before, winding_c, housing_c, self.measured.q]
    }

    /// Visits every number but the flags.
    #[inline(always)]
    pub fn walk(&mut self, visit: &mut impl FnMut(&'static str, &mut f64)) {
        self.measured.walk(visit);
        visit("drive.since_read_s", &mut self.since_read_s);
        visit("drive.target", &mut self.target_nm);
        visit("drive.torque", &mut self.torque_nm);
        self.interpolation.walk(visit);
        visit("drive.since_arrival_s", &mut self.since_command_s);
        self.stiction.walk(visit);
        self.rotor.walk(visit);
        self.temperatures.walk(visit);
        visit("drive.dq_before", &mut self.dq_before);
        visit("drive.effort_before", &mut self.effort_before_nm);
    }
}
