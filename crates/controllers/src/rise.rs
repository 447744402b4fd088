//! After an emergency stop the joints go back to where the robot stands in a second: at once, the
//! drives would throw it.

use hardstand_protocol::{Authority, JointCommand, StateReading};

/// From where the stop has left the joints to where they are held, ns.
const RISE_NS: u64 = 1_000_000_000;
/// So long they are held there.
const SETTLE_NS: u64 = 500_000_000;

/// Set-points after a stop.
#[derive(Debug)]
pub(crate) struct Rise {
    /// Where the robot stands: all joints, in the model's order.
    hold: Vec<JointCommand>,
    /// Of the last state in a stop: its time, ns, and positions.
    stopped: Option<(u64, Vec<f64>)>,
}

impl Rise {
    pub(crate) const fn to(hold: Vec<JointCommand>) -> Self {
        Self { hold, stopped: None }
    }

    /// The set-points of all joints in a stop and until the robot has risen from it; `None` when
    /// it has.
    pub(crate) fn set_points(&mut self, state: &StateReading) -> Option<Vec<JointCommand>> {
        let measured = || state.joints.iter().map(|j| j.q).collect();
        if state.authority == Authority::Stopped.code() {
            self.stopped = Some((state.time_ns, measured()));
        }
        let (since_ns, from) = self.stopped.as_ref()?;
        let passed_ns = state.time_ns.saturating_sub(*since_ns);
        if passed_ns >= RISE_NS + SETTLE_NS {
            self.stopped = None;
            return None;
        }
        let share = (passed_ns as f64 / RISE_NS as f64).min(1.0);
        let between = |(hold, q): (&JointCommand, &f64)| JointCommand {
            q: q + share * (hold.q - q),
            ..*hold
        };
        Some(self.hold.iter().zip(from).map(between).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hardstand_protocol::JointReading;

    fn state(ms: u64, authority: Authority, q: f64) -> StateReading {
        StateReading {
            time_ns: ms * 1_000_000,
            authority: authority.code(),
            joints: vec![JointReading { q, ..JointReading::default() }],
            ..StateReading::default()
        }
    }

    #[test]
    fn joints_go_from_where_a_stop_has_left_them_to_where_they_are_held() {
        let mut rise = Rise::to(vec![JointCommand { q: 1.0, kp: 50.0, ..Default::default() }]);
        let mut at = |ms, authority, q| {
            rise.set_points(&state(ms, authority, q)).map(|all| (all[0].q, all[0].kp))
        };
        assert_eq!(at(0, Authority::Fresh, 1.0), None);
        assert_eq!(at(1000, Authority::Stopped, 0.5), Some((0.5, 50.0)));
        // it sinks on while the stop lasts
        assert_eq!(at(3000, Authority::Stopped, 0.0), Some((0.0, 50.0)));
        assert_eq!(at(3250, Authority::Fresh, 0.1), Some((0.25, 50.0)));
        assert_eq!(at(4250, Authority::Fresh, 0.9), Some((1.0, 50.0)));
        assert_eq!(at(4500, Authority::Fresh, 1.0), None);
        assert_eq!(at(4600, Authority::Fresh, 1.0), None);
    }
}
