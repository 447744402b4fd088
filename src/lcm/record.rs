//! Structures of LCM: a fingerprint of their members, then the members, big endian.

/// Type of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Float,
    Double,
    Short,
    Long,
}

/// Name, type and length of a member; length 0 is a single value.
pub(super) type Member = (&'static str, Kind, usize);

/// Bytes of the fingerprint.
const FINGERPRINT_BYTES: usize = 8;

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Float => "float",
            Self::Double => "double",
            Self::Short => "int16_t",
            Self::Long => "int64_t",
        }
    }

    const fn bytes(self) -> usize {
        match self {
            Self::Float => 4,
            Self::Double | Self::Long => 8,
            Self::Short => 2,
        }
    }
}

/// What begins each message of this structure: LCM's hash of names, types and lengths.
fn fingerprint(members: &[Member]) -> [u8; FINGERPRINT_BYTES] {
    let update = |hash: i64, c: u8| ((hash << 8) ^ (hash >> 55)).wrapping_add(i64::from(c));
    let text = |hash: i64, text: &str| text.bytes().fold(update(hash, text.len() as u8), update);
    let mut hash = 0x1234_5678;
    for (name, kind, length) in members {
        hash = text(text(hash, name), kind.name());
        hash = update(hash, u8::from(*length > 0));
        if *length > 0 {
            // a length that is a constant, as it is written
            hash = text(update(hash, 0), &length.to_string());
        }
    }
    (hash as u64).rotate_left(1).to_be_bytes()
}

/// Appends a message with these values, member after member. Whole numbers are exact up to 2⁵³.
pub(super) fn encode(members: &[Member], values: &[f64], out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&fingerprint(members));
    let mut values = values.iter();
    for (_, kind, length) in members {
        for &value in values.by_ref().take((*length).max(1)) {
            match kind {
                Kind::Float => out.extend_from_slice(&(value as f32).to_be_bytes()),
                Kind::Double => out.extend_from_slice(&value.to_be_bytes()),
                Kind::Short => out.extend_from_slice(&(value as i16).to_be_bytes()),
                Kind::Long => out.extend_from_slice(&(value as i64).to_be_bytes()),
            }
        }
    }
}

/// All values of a message; `None` if it is of another structure.
pub(super) fn decode(members: &[Member], bytes: &[u8]) -> Option<Vec<f64>> {
    let mut rest = bytes.strip_prefix(&fingerprint(members))?;
    let mut values = Vec::new();
    for (_, kind, length) in members {
        for _ in 0..(*length).max(1) {
            let (value, after) = rest.split_at_checked(kind.bytes())?;
            values.push(match kind {
                Kind::Float => f64::from(f32::from_be_bytes(value.try_into().ok()?)),
                Kind::Double => f64::from_be_bytes(value.try_into().ok()?),
                Kind::Short => f64::from(i16::from_be_bytes(value.try_into().ok()?)),
                Kind::Long => i64::from_be_bytes(value.try_into().ok()?) as f64,
            });
            rest = after;
        }
    }
    rest.is_empty().then_some(values)
}

#[cfg(test)]
mod tests {
    use super::{Kind, decode, encode, fingerprint};

    #[test]
    fn the_fingerprint_is_that_of_lcm_gen() {
        // `lcm-gen -p` 1.5.1 for a structure with these members
        let members = [
            ("q", Kind::Float, 12),
            ("qd", Kind::Float, 12),
            ("p", Kind::Float, 12),
            ("v", Kind::Float, 12),
            ("tau_est", Kind::Float, 12),
            ("timestamp_us", Kind::Long, 0),
            ("id", Kind::Long, 0),
            ("robot_id", Kind::Long, 0),
        ];
        let of_lcm_gen = 0xa9a9_28b5_34bf_c487_u64.rotate_left(1);
        assert_eq!(fingerprint(&members), of_lcm_gen.to_be_bytes());
    }

    #[test]
    fn values_come_out_as_they_went_in_and_other_structures_are_refused() {
        let members = [("a", Kind::Double, 2), ("b", Kind::Short, 0), ("c", Kind::Float, 1)];
        let (values, mut bytes) = ([0.1, -2e9, -7.0, 0.5], Vec::new());
        encode(&members, &values, &mut bytes);
        assert_eq!(bytes.len(), 8 + 16 + 2 + 4);
        assert_eq!(decode(&members, &bytes).as_deref(), Some(&values[..]));
        assert_eq!(decode(&members, &bytes[..bytes.len() - 1]), None);
        assert_eq!(decode(&members, &[&bytes[..], &[0]].concat()), None);
        let other = [("a", Kind::Double, 2), ("b", Kind::Short, 0), ("d", Kind::Float, 1)];
        assert_eq!(decode(&other, &bytes), None);
    }
}
