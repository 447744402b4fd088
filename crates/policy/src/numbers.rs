//! Numbers in contracts: one for all, or one for each; and their texts in errors.

/// One number for all places, or one for each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    One(f64),
    Each(Vec<f64>),
}

impl Numbers {
    pub(crate) fn at(&self, i: usize) -> f64 {
        match self {
            Self::One(number) => *number,
            Self::Each(numbers) => numbers[i],
        }
    }

    /// How many there are; None for one that serves any count.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::One(_) => None,
            Self::Each(numbers) => Some(numbers.len()),
        }
    }
}

impl Default for Numbers {
    fn default() -> Self {
        Self::One(0.0)
    }
}

/// A number with up to six digits, as C's and Python's format `g`.
pub(crate) fn short(number: f64) -> String {
    if !number.is_finite() {
        return format!("{number}").replace("NaN", "nan");
    }
    let text = format!("{number:.5e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        let decimals = usize::try_from(5 - exponent).unwrap_or(0);
        return without_zeros(&format!("{number:.decimals$}")).to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_in_errors_are_those_of_python() {
        let cases = [
            (0.0, "0"),
            (50.0, "50"),
            (-1.5, "-1.5"),
            (333.333_333_3, "333.333"),
            (999_999.5, "1e+06"),
            (0.000_1, "0.0001"),
            (0.000_012_34, "1.234e-05"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ];
        for (number, text) in cases {
            assert_eq!(short(number), text);
        }
    }
}
