//! A value of a case that is drawn: a number of a range, or one of a list.

use toml::Value;

use crate::campaign::BETWEEN;

/// What a value is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Draw {
    /// A number between two, with so many decimals.
    Number { between: [f64; 2], decimals: usize },
    /// A whole number between two.
    Whole([i64; 2]),
    /// One of these.
    OneOf(Vec<Value>),
}

/// Steps of the range of a number, as a power of ten: finer differences are not worth a case.
const STEP_DECIMALS: usize = 3;
const DECIMALS_MAX: usize = 15;

impl Draw {
    /// `{ between = [a, b] }` or `{ one_of = […] }`; `None` if the value is something else.
    ///
    /// # Errors
    /// What it must be.
    pub(super) fn of(value: &Value) -> Result<Option<Self>, String> {
        let Some(table) = value.as_table().filter(|t| t.len() == 1) else { return Ok(None) };
        if let Some(ends) = table.get("between") {
            let draw = between(ends.as_array().map(Vec::as_slice).unwrap_or_default());
            let refused = || format!("between is {ends}; it must be {BETWEEN}");
            return draw.ok_or_else(refused).map(Some);
        }
        let Some(all) = table.get("one_of") else { return Ok(None) };
        match all.as_array().filter(|list| !list.is_empty()) {
            Some(list) => Ok(Some(Self::OneOf(list.clone()))),
            None => Err(format!("one_of is {all}; it must be a list of at least one value")),
        }
    }

    /// Of a number between two.
    pub(super) fn number(between: [f64; 2]) -> Self {
        let (mut width, mut decimals) = (between[1] - between[0], STEP_DECIMALS);
        while width >= 10.0 && decimals > 0 {
            (width, decimals) = (width / 10.0, decimals - 1);
        }
        while width < 1.0 && decimals < DECIMALS_MAX {
            (width, decimals) = (width * 10.0, decimals + 1);
        }
        Self::Number { between, decimals }
    }

    /// The value at `gene`, 0 to 1.
    pub(super) fn at(&self, gene: f64) -> Value {
        let gene = gene.clamp(0.0, 1.0);
        match self {
            Self::Number { between: [low, high], .. } => {
                Value::Float(self.rounded(low + (high - low) * gene))
            }
            Self::Whole([low, high]) => {
                let count = high.saturating_sub(*low).saturating_add(1);
                let step = (gene * count as f64) as i64;
                Value::Integer(low.saturating_add(step.min(count - 1)))
            }
            Self::OneOf(all) => {
                all[((gene * all.len() as f64) as usize).min(all.len() - 1)].clone()
            }
        }
    }

    /// The value with the least effect, to which a case is shrunk: 0, or what is nearest to it; the
    /// first of a list.
    pub(super) fn least(&self) -> Value {
        match self {
            Self::Number { between: [low, high], .. } => Value::Float(0.0_f64.clamp(*low, *high)),
            Self::Whole([low, high]) => Value::Integer(0.clamp(*low, *high)),
            Self::OneOf(all) => all[0].clone(),
        }
    }

    /// The value at `share` of the way from `from` to `to`, in the steps of this draw.
    pub(super) fn between(&self, from: &Value, to: &Value, share: f64) -> Value {
        match (self, from, to) {
            (Self::Number { .. }, Value::Float(a), Value::Float(b)) => {
                Value::Float(self.rounded(a + (b - a) * share))
            }
            (Self::Whole(_), Value::Integer(a), Value::Integer(b)) => {
                let width = *b as f64 - *a as f64;
                Value::Integer(a.saturating_add((width * share) as i64))
            }
            _ => if share < 1.0 { from } else { to }.clone(),
        }
    }

    /// In decimals, so that the number that is printed is the one that is used; an end that has
    /// more of them as it is.
    fn rounded(&self, x: f64) -> f64 {
        match self {
            Self::Number { between: [low, high], decimals } => {
                let rounded: f64 = format!("{x:.decimals$}").parse().unwrap_or(x);
                rounded.clamp(*low, *high)
            }
            _ => x,
        }
    }
}

fn between(ends: &[Value]) -> Option<Draw> {
    let number = |v: &Value| v.as_float().or_else(|| v.as_integer().map(|i| i as f64));
    match ends {
        [Value::Integer(low), Value::Integer(high)] if low < high => {
            Some(Draw::Whole([*low, *high]))
        }
        [low, high] => {
            let [low, high] = [number(low)?, number(high)?];
            let is_range = low < high && (high - low).is_finite();
            is_range.then(|| Draw::number([low, high]))
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests fail by panic")]
mod tests {
    use super::Draw;
    use toml::{Table, Value};

    fn draw(text: &str) -> Draw {
        Draw::of(&text.parse::<Table>().unwrap()["x"]).unwrap().unwrap()
    }

    #[test]
    fn numbers_are_drawn_from_the_whole_range_in_steps_that_print_well() {
        let force = draw("x = { between = [-80.0, 80] }");
        assert_eq!(force.at(0.0), Value::Float(-80.0));
        assert_eq!(force.at(1.0), Value::Float(80.0));
        assert_eq!(force.at(1.0 / 3.0).to_string(), "-26.7");
        assert_eq!(force.least(), Value::Float(0.0));
        let fine = draw("x = { between = [0.004, 12] }");
        assert_eq!(fine.at(0.0), Value::Float(0.004), "an end is not rounded out of the range");
        let widest = draw("x = { between = [-9223372036854775808, 9223372036854775807] }");
        let [low, high] = [i64::MIN, i64::MAX].map(Value::Integer);
        assert_eq!(widest.between(&low, &high, 0.0), low);
        assert_eq!(draw("x = { between = [0.2, 0.9] }").least(), Value::Float(0.2));
        assert_eq!(
            force.between(&Value::Float(0.0), &Value::Float(41.0), 0.25).to_string(),
            "10.2"
        );
    }

    #[test]
    fn whole_numbers_and_lists_have_each_value() {
        let ticks = draw("x = { between = [1, 3] }");
        let drawn = [0.0, 0.34, 0.67, 1.0].map(|gene| ticks.at(gene).as_integer().unwrap());
        assert_eq!(drawn, [1, 2, 3, 3]);
        let legs = draw("x = { one_of = [\"FL\", \"FR\"] }");
        assert_eq!([legs.at(0.4), legs.at(0.6)].map(|v| v.to_string()), ["\"FL\"", "\"FR\""]);
        assert_eq!(legs.least().as_str(), Some("FL"));
    }

    #[test]
    fn other_values_are_no_draw_and_wrong_ranges_are_named() {
        let value = |text: &str| text.parse::<Table>().unwrap()["x"].clone();
        assert_eq!(Draw::of(&value("x = 3")), Ok(None));
        assert_eq!(Draw::of(&value("x = { y = [0, 1] }")), Ok(None));
        for wrong in
            ["[1, 0]", "[1]", "[0.5, 0.5]", "[nan, 1.0]", "[nan, inf]", "3", "[-1e308, 1e308]"]
        {
            let said = Draw::of(&value(&format!("x = {{ between = {wrong} }}"))).unwrap_err();
            let rule = "it must be two finite numbers, the smaller first, at most 1.79";
            assert!(said.starts_with("between is ") && said.contains(rule), "{said}");
        }
        for wrong in ["[]", "3"] {
            let said = Draw::of(&value(&format!("x = {{ one_of = {wrong} }}"))).unwrap_err();
            let rule = "it must be a list of at least one value";
            assert_eq!(said, format!("one_of is {wrong}; {rule}"));
        }
    }
}
