//! Search for the first bad one of many, as `git bisect` does.

use std::collections::BTreeSet;

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
    /// The first bad one is among these: those before the last could not be judged, as far as they
    /// were asked for, and the last is bad.
    Among(u64, u64),
    /// None of the last ones can be judged.
    Unjudged,
}

/// As many of the last ones are tried if none can be judged, and as many between others that cannot
/// be judged.
const TRIES: usize = 32;

/// Finds the first bad one of `0..count` by asking `judge` for some.
///
/// # Errors
/// Those of `judge`.
pub fn first_bad(count: u64, mut judge: impl FnMut(u64) -> Result<Verdict>) -> Result<Found> {
    let mut bad = None;
    for i in (0..count).rev().take(TRIES) {
        match judge(i)? {
            Verdict::Good => return Ok(Found::Nothing),
            Verdict::Bad => bad = Some(i),
            Verdict::Unknown => continue,
        }
        break;
    }
    // `good..bad`: the first bad one is in there, or it is `bad` itself
    let (mut good, Some(mut bad)) = (0, bad) else { return Ok(Found::Unjudged) };
    let (mut unknown, mut between) = (BTreeSet::new(), 0);
    while good < bad {
        let next = match next(good, bad, &unknown) {
            Next::Edge(i) => i,
            Next::Between(i) if between < TRIES => {
                between += 1;
                i
            }
            Next::Between(_) | Next::None => return Ok(Found::Among(good, bad)),
        };
        match judge(next)? {
            Verdict::Bad => bad = next,
            Verdict::Good => good = next + 1,
            Verdict::Unknown => {
                unknown.insert(next);
                continue;
            }
        }
        between = 0;
        unknown.retain(|i| (good..bad).contains(i));
    }
    Ok(Found::First(bad))
}

/// Which one is asked for next.
enum Next {
    /// Of those that no unknown one separates from one that was judged, or where none is unknown.
    Edge(u64),
    /// Between two that cannot be judged.
    Between(u64),
    /// All are unknown.
    None,
}

/// Of `good..bad`, the middle of the larger part beside those that are `unknown`, so that what
/// cannot be judged is enclosed; then the middle of the largest part between them.
fn next(good: u64, bad: u64, unknown: &BTreeSet<u64>) -> Next {
    let (Some(&first), Some(&last)) = (unknown.first(), unknown.last()) else {
        return Next::Edge(good + (bad - good) / 2);
    };
    let (before, after) = (first - good, bad - last - 1);
    if before.max(after) > 0 {
        let begin = if before >= after { good } else { last + 1 };
        return Next::Edge(begin + before.max(after) / 2);
    }
    let parts = unknown.iter().zip(unknown.iter().skip(1)).map(|(a, b)| (b - a - 1, a + 1));
    match parts.max_by_key(|(length, begin)| (*length, std::cmp::Reverse(*begin))) {
        Some((length @ 1.., begin)) => Next::Between(begin + length / 2),
        _ => Next::None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::{Found, TRIES, Verdict, first_bad};

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
        assert_eq!(judge(700, 1000 - TRIES as u64..1000), Found::Unjudged);
        assert_eq!(first_bad(0, |_| Ok(Verdict::Bad)).unwrap(), Found::Unjudged);
    }

    /// A long block that cannot be judged is enclosed exactly, wherever the first bad one is.
    #[test]
    fn a_block_that_cannot_be_judged_is_the_whole_answer() {
        for (unknown, expected) in [
            (3000..5000, Found::Among(3000, 5000)),
            (0..5000, Found::Among(0, 5000)),
            (3000..4001, Found::Among(3000, 4001)),
            (10..3000, Found::First(4000)),
            (4001..7000, Found::First(4000)),
        ] {
            let mut asked = 0;
            let found = first_bad(8000, |i| {
                asked += 1;
                Ok(match i {
                    i if unknown.contains(&i) => Verdict::Unknown,
                    0..4000 => Verdict::Good,
                    _ => Verdict::Bad,
                })
            });
            assert_eq!(found.unwrap(), expected, "{unknown:?}");
            assert!(asked <= TRIES + 3 * 13, "{asked} questions for {unknown:?}");
        }
    }

    /// Of every third one, and of two long blocks with a good one in the middle between them.
    #[test]
    fn what_can_be_judged_between_others_is_found() {
        let judge = |unknown: &dyn Fn(u64) -> bool| {
            first_bad(8000, |i| {
                Ok(match i {
                    i if unknown(i) => Verdict::Unknown,
                    0..4000 => Verdict::Good,
                    _ => Verdict::Bad,
                })
            })
            .unwrap()
        };
        assert_eq!(judge(&|i| i % 3 == 2), Found::First(4000));
        assert_eq!(judge(&|i| i % 3 == 0), Found::Among(3999, 4000));
        assert_eq!(judge(&|i| (3000..5000).contains(&i) && i != 3999), Found::Among(4000, 5000));
    }
}
