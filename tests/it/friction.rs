//! Requests to change friction: exact bytes, every refusal, and a second opinion on damaged ones.

use crate::common::dice::Dice;
use hardstand::ErrorKind;
use hardstand::ingress::{FrictionLimits, check_friction};
use hardstand_protocol::{Event, Rejection, Scope};
use hardstand_protocol::{
    FrictionRequest, HEADER_BYTES, Kind, OrderReply, Refusal, decode, encode,
};

const LIMITS: FrictionLimits =
    FrictionLimits { layout_hash: 0x0123_4567_89ab_cdef, counts: [12, 4, 2], feet_of_shapes: 0 };

fn request(scope: Scope, mu_static: f64, mu_kinetic: f64) -> FrictionRequest {
    FrictionRequest::new(LIMITS.layout_hash, scope, mu_static, mu_kinetic)
}

fn bytes_of(r: &FrictionRequest) -> Vec<u8> {
    let mut out = Vec::new();
    encode(Kind::Friction, r, &mut out).unwrap();
    out.split_off(HEADER_BYTES)
}

#[test]
fn a_body_has_exactly_these_bytes() {
    let expected: Vec<u8> = [
        [0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01].as_slice(), // layout hash
        &[2],                                                        // scope: a foot
        &[1, 0, 0, 0],                                               // index
        &[0, 0, 0, 0, 0, 0, 0xe0, 0x3f],                             // static 0.5
        &[0, 0, 0, 0, 0, 0, 0xd0, 0x3f],                             // kinetic 0.25
    ]
    .concat();
    assert_eq!(bytes_of(&request(Scope::Foot(1), 0.5, 0.25)), expected);
    assert_eq!(expected.len(), 29);
    let foot = Event::Friction { scope: Scope::Foot(1), mu_static: 0.5, mu_kinetic: 0.25 };
    assert_eq!(check_friction(&expected, &LIMITS), Ok(foot));
}

#[test]
fn an_answer_has_exactly_these_bytes() {
    let bytes = |reply: &OrderReply| {
        let mut out = Vec::new();
        encode(Kind::OrderReply, reply, &mut out).unwrap();
        assert_eq!(&decode::<OrderReply>(Kind::OrderReply, &out).unwrap(), reply);
        out
    };
    let accepted = OrderReply::accepted(0x0102);
    let expected = [b"HS\x07\x09\x00\x02\x01".as_slice(), &[0; 6], &[0; 8]].concat();
    assert_eq!(bytes(&accepted), expected);
    assert_eq!(accepted.tick(), Ok(0x0102));
    let refusal = |reason| OrderReply::from(Refusal { reason, text: "why".into() });
    let expected = [b"HS\x07\x09\x01".as_slice(), &[0; 8], &[3, 0, 0, 0, 0, 0, 0, 0], b"why"];
    assert_eq!(bytes(&refusal(Rejection::OutOfRange)), expected.concat());
    let kind = |reason| refusal(reason).tick().unwrap_err().kind();
    assert_eq!(kind(Rejection::OutOfRange), ErrorKind::Input);
    assert_eq!(
        (kind(Rejection::QueueFull), refusal(Rejection::QueueFull).verdict),
        (ErrorKind::Bus, 2)
    );
}

#[test]
fn every_scope_is_taken_up_to_its_last_index() {
    let check = |scope| check_friction(&bytes_of(&request(scope, 100.0, 100.0)), &LIMITS);
    for scope in [Scope::All, Scope::Station(11), Scope::Foot(3), Scope::Region(1)] {
        let event = Event::Friction { scope, mu_static: 100.0, mu_kinetic: 100.0 };
        assert_eq!(check(scope), Ok(event));
    }
    let text = |scope| check(scope).unwrap_err().text;
    assert_eq!(text(Scope::Station(12)), "index is 12; it must be 0 to 11, the stations");
    assert_eq!(text(Scope::Foot(4)), "index is 4; it must be 0 to 3, the feet");
    assert_eq!(
        text(Scope::Region(u32::MAX)),
        "index is 4294967295; it must be 0 to 1, the regions"
    );
    let all = FrictionRequest { index: 1, ..request(Scope::All, 0.5, 0.5) };
    let refused = check_friction(&bytes_of(&all), &LIMITS).unwrap_err();
    assert_eq!(refused.text, "index is 1; it must be 0 when scope is 0, all stations");
    let shaped = FrictionLimits { feet_of_shapes: 0b100, ..LIMITS };
    let of = |foot| check_friction(&bytes_of(&request(Scope::Foot(foot), 0.5, 0.5)), &shaped);
    assert!(of(1).is_ok());
    assert!(of(2).unwrap_err().text.starts_with("index is 2; it must be a foot with points_m"));
    let none = FrictionLimits { counts: [12, 4, 0], ..LIMITS };
    let refused = check_friction(&bytes_of(&request(Scope::Region(0), 0.5, 0.5)), &none);
    assert_eq!(refused.unwrap_err().text, "scope is 3; this scenario has no regions");
}

#[test]
fn coefficients_are_checked_with_field_value_and_range() {
    let text = |mu_static, mu_kinetic| {
        let bytes = bytes_of(&request(Scope::All, mu_static, mu_kinetic));
        check_friction(&bytes, &LIMITS).map_err(|r| (r.reason, r.text))
    };
    for (s, k) in [(0.0, 0.0), (0.5, 0.5), (100.0, 0.0), (-0.0, -0.0), (f64::MIN_POSITIVE, 0.0)] {
        assert!(text(s, k).is_ok(), "{s} {k}");
    }
    let cases = [
        ((0.5, 0.9), "mu_kinetic is 0.9; it must be 0 to mu_static, which is 0.5"),
        ((0.5, -0.1), "mu_kinetic is -0.1; it must be 0 to mu_static, which is 0.5"),
        ((100.5, 0.5), "mu_static is 100.5; it must be 0 to 100"),
        ((-1.0, 0.5), "mu_static is -1; it must be 0 to 100"),
    ];
    for ((s, k), words) in cases {
        assert_eq!(text(s, k), Err((Rejection::OutOfRange, words.into())));
    }
    for (s, k) in [(f64::NAN, 0.0), (f64::INFINITY, 0.0), (0.5, f64::NAN), (0.5, f64::INFINITY)] {
        assert_eq!(text(s, k).unwrap_err().0, Rejection::NotFinite, "{s} {k}");
    }
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    (0..width).fold(0, |sum, i| sum + (u64::from(bytes[at + i]) << (8 * i)))
}

/// A second opinion, from the description of the bytes.
fn judge(bytes: &[u8]) -> Result<(u8, u32, f64, f64), Rejection> {
    if bytes.len() != 29 {
        return Err(Rejection::Size);
    }
    if number(bytes, 0, 8) != LIMITS.layout_hash {
        return Err(Rejection::Layout);
    }
    let (scope, index) = (bytes[8], number(bytes, 9, 4) as u32);
    let count = *[1, 12, 4, 2].get(usize::from(scope)).ok_or(Rejection::OutOfRange)?;
    let mu = [13, 21].map(|at| f64::from_bits(number(bytes, at, 8)));
    let bad = |x: f64, max: f64| x.is_nan() || x < 0.0 || x > max;
    if index >= count {
        return Err(Rejection::OutOfRange);
    }
    for (x, max) in [(mu[0], 100.0), (mu[1], mu[0])] {
        if bad(x, max) {
            let finite = x.is_finite();
            return Err(if finite { Rejection::OutOfRange } else { Rejection::NotFinite });
        }
    }
    Ok((scope, index, mu[0], mu[1]))
}

#[test]
fn damaged_requests_are_judged_as_an_independent_checker_does() {
    const SPECIAL: [f64; 8] =
        [f64::NAN, f64::INFINITY, -0.0, -1e-300, 100.0, 100.000_000_1, 0.5, f64::MAX];
    let mut dice = Dice(0x5eed_0008);
    let (mut accepted, mut reasons) = (0, [0; Rejection::ALL.len()]);
    for n in 0..200_000 {
        let scopes = [Scope::All, Scope::Station(5), Scope::Foot(3), Scope::Region(0)];
        let mut bytes = bytes_of(&request(scopes[dice.roll(4) as usize], 0.5, 0.4));
        match dice.roll(5) {
            0 => bytes[8] = dice.roll(6) as u8,
            1 => bytes[9] = dice.roll(14) as u8,
            2 => {
                let at = 13 + 8 * dice.roll(2) as usize;
                let special = SPECIAL[dice.roll(8) as usize];
                bytes[at..at + 8].copy_from_slice(&special.to_le_bytes());
            }
            3 => {
                let at = dice.roll(29) as usize;
                bytes[at] ^= 1 << dice.roll(8);
            }
            _ => bytes.resize(dice.roll(40) as usize, 0),
        }
        match (check_friction(&bytes, &LIMITS), judge(&bytes)) {
            (Ok(Event::Friction { scope, mu_static, mu_kinetic }), Ok((s, i, mu_s, mu_k))) => {
                let own = request(scope, mu_static, mu_kinetic);
                assert_eq!((own.scope, own.index), (s, i));
                assert_eq!((mu_static, mu_kinetic), (mu_s, mu_k));
                accepted += 1;
            }
            (Err(refusal), Err(reason)) => {
                assert_eq!(refusal.reason, reason, "message {n}: {bytes:02x?}");
                assert!(refusal.text.len() > 15 && Refusal::REASONS.contains(&reason));
                reasons[reason as usize] += 1;
            }
            (found, expected) => panic!("message {n}: {found:?}, {expected:?}: {bytes:02x?}"),
        }
    }
    let seen = reasons.iter().filter(|&&n| n > 200).count();
    assert!(accepted > 20_000 && seen == 4, "{accepted} accepted, by reason: {reasons:?}");
}
