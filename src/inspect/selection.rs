//! Quantities by pattern, and their values over a run.

use hardstand_error::{Error, ErrorKind, Result};

use crate::replay::Player;

use super::{Quantities, Quantity};

impl Quantities {
    /// The quantities that match any of `patterns`, in their own order; `*` stands for any text.
    /// All of them without a pattern.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] for a pattern that nothing matches, with the nearest names.
    pub fn select(&self, patterns: &[String]) -> Result<Vec<&Quantity>> {
        for pattern in patterns {
            if !self.list().iter().any(|q| matches(pattern, &q.name)) {
                let near = self.nearest(pattern).join(", ");
                let text = format!(
                    "no quantity matches {pattern:?}; near it are {near}; hardstand bisect LOG \
                     --list shows all"
                );
                return Err(Error::new(ErrorKind::Input, text));
            }
        }
        let wanted = |q: &&Quantity| {
            patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern, &q.name))
        };
        Ok(self.list().iter().filter(wanted).collect())
    }
}

/// True if `name` is `pattern`, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    let mut ends = rest.char_indices().map(|(i, _)| i).chain([rest.len()]);
    ends.any(|end| matches(after, &rest[end..]))
}

/// Gives time (s) and values of `quantities` to `look`, for each `every`th tick from `times_s[0]`
/// to `times_s[1]`.
///
/// # Errors
/// As [`Player::advance`], and those of `look`.
pub fn sample(
    player: &mut Player,
    quantities: &[&Quantity],
    times_s: [f64; 2],
    every: u64,
    mut look: impl FnMut(f64, &[f64]) -> Result<()>,
) -> Result<()> {
    let (mut values, mut count) = (vec![0.0; quantities.len()], 0_u64);
    while player.advance()? {
        let Some(view) = player.view() else { break };
        let time_s = view.state.time_ns as f64 * 1e-9;
        if !(times_s[0]..=times_s[1]).contains(&time_s) {
            continue;
        }
        if count.is_multiple_of(every) {
            for (value, quantity) in values.iter_mut().zip(quantities) {
                *value = quantity.of(&view);
            }
            look(time_s, &values)?;
        }
        count += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, same) in [
            ("base.z", "base.z", true),
            ("base.z", "base.zz", false),
            ("joint.*.q", "joint.FL_hip_joint.q", true),
            ("joint.*.q", "joint.FL_hip_joint.dq", false),
            ("*", "age", true),
            ("*.q", "joint.a.q.q", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(matches(pattern, name), same, "{pattern} {name}");
        }
    }
}
