//! Search for the first bad one of many, as `git bisect` does.

use hardstand_error::Result;

/// What a judge says of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not yet bad.
    Good,
    /// Bad, and so are all after it.
    Bad,
    /// It cannot be judged.
    Unknown,
}

/// What a search has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The last one that can be judged is good.
    Nothing,
    /// The first bad one.
    First(u64),
    /// The first bad one is among these, which cannot be judged, or it is the last of them.
    Among(u64, u64),
    /// None of the last ones can be judged.
    Unjudged,
}

/// As many neighbours are tried of one that cannot be judged.
const NEIGHBOURS: u64 = 32;

/// Finds the first bad one of `0..count` by asking `judge` for some.
///
/// # Errors
/// Those of `judge`.
pub fn first_bad(count: u64, mut judge: impl FnMut(u64) -> Result<Verdict>) -> Result<Found> {
    let mut bad = None;
    for i in (0..count).rev().take(NEIGHBOURS as usize) {
        match judge(i)? {
            Verdict::Good => return Ok(Found::Nothing),
            Verdict::Bad => bad = Some(i),
            Verdict::Unknown => continue,
        }
        break;
    }
    // `good..bad`: the first bad one is in there, or it is `bad` itself
    let (mut good, Some(mut bad)) = (0, bad) else { return Ok(Found::Unjudged) };
    while good < bad {
        let mut judged = None;
        for i in outwards(good, bad) {
            let verdict = judge(i)?;
            if verdict != Verdict::Unknown {
                judged = Some((i, verdict));
                break;
            }
        }
        match judged {
            Some((i, Verdict::Bad)) => bad = i,
            Some((i, _)) => good = i + 1,
            None => return Ok(Found::Among(good, bad)),
        }
    }
    Ok(Found::First(bad))
}

/// The middle of `low..high`, then its neighbours.
fn outwards(low: u64, high: u64) -> impl Iterator<Item = u64> {
    let middle = low + (high - low) / 2;
    let around = (1..=NEIGHBOURS / 2).flat_map(move |d| [middle.checked_sub(d), Some(middle + d)]);
    let inside = move |i: &u64| (low..high).contains(i);
    std::iter::once(middle).chain(around.flatten()).filter(inside)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{Found, NEIGHBOURS, Verdict, first_bad};

    /// Every place of the first bad one, with at most so many questions.
    #[test]
    fn every_first_bad_one_is_found_by_few_questions() {
        for count in 1..70 {
            for first in 0..=count {
                let mut asked = 0;
                let found = first_bad(count, |i| {
                    asked += 1;
                    Ok(if i < first { Verdict::Good } else { Verdict::Bad })
                });
                let expected = if first < count { Found::First(first) } else { Found::Nothing };
                assert_eq!(found.unwrap(), expected, "{first} of {count}");
                assert!(asked <= 2 + count.ilog2(), "{asked} questions for {count}");
            }
        }
    }

    #[test]
    fn what_cannot_be_judged_is_passed_by_or_told() {
        let judge = |first: u64, unknown: std::ops::Range<u64>| {
            first_bad(1000, move |i| {
                Ok(match i {
                    i if unknown.contains(&i) => Verdict::Unknown,
                    i if i < first => Verdict::Good,
                    _ => Verdict::Bad,
                })
            })
            .unwrap()
        };
        assert_eq!(judge(700, 495..505), Found::First(700));
        assert_eq!(judge(700, 697..700), Found::Among(697, 700));
        assert_eq!(judge(700, 690..710), Found::Among(690, 710));
        assert_eq!(judge(700, 990..1000), Found::First(700));
        assert_eq!(judge(700, 1000 - NEIGHBOURS..1000), Found::Unjudged);
        assert_eq!(first_bad(0, |_| Ok(Verdict::Bad)).unwrap(), Found::Unjudged);
    }
}
