//! The elementary functions: how exact they are, and that lanes give the bits of a single number.

use std::f64::consts::{E, FRAC_PI_2, LN_2};
use std::panic::catch_unwind;

use crate::common::dice::Dice;
use crate::common::double_double;
use crate::common::double_double::{Double, power_of_two, ulp};
use hardstand_physics::math::{self, Program, map_lanes};
use hardstand_physics::simd::{F64x2, F64x4, SimdReal};

const SPECIAL: [f64; 22] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    1e-300,
    5e-324,
    -5e-324,
    2.2e-308,
    1e5,
    -1e5,
    1.1e5,
    -745.2,
    709.79,
    1e300,
    -1e300,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// In `[0, 1)`.
fn chance(dice: &mut Dice) -> f64 {
    dice.roll(1 << 53) as f64 / (1_u64 << 53) as f64
}

fn between(dice: &mut Dice, low: f64, high: f64) -> f64 {
    low + (high - low) * chance(dice)
}

/// Either sign, each power of two up to `2^most` as often as every other.
fn of_any_size(dice: &mut Dice, most: i32) -> f64 {
    let biased = dice.roll((most + 1023) as u64);
    f64::from_bits(biased << 52 | dice.roll(1 << 52) | dice.roll(2) << 63)
}

/// The largest error over `arguments`, printed with its argument.
fn worst(name: &str, arguments: &[f64], error: impl Fn(f64) -> f64) -> f64 {
    let errors = arguments.iter().map(|&x| (error(x).abs(), x));
    let (most, at) = errors.fold((0.0, 0.0), |a, b| if b.0 > a.0 { b } else { a });
    println!("{name}: at most {most:.4} ulp, at {at:e}, of {} arguments", arguments.len());
    most
}

fn error_of_exp(x: f64) -> f64 {
    let (exact, power) = double_double::exp(x);
    ulp(math::exp(x), exact, power)
}

#[test]
fn the_reference_knows_digits_and_identities() {
    let near = |x: Double, hi: f64, lo: f64| {
        assert!(x.hi == hi && (x.lo - lo).abs() < 1e-30 * hi.abs(), "{x:?}, not {hi:e} + {lo:e}");
    };
    let (e, power) = double_double::exp(1.0);
    assert_eq!(power, 1);
    near(e.plus(e), E, 1.445_646_891_729_250_2e-16);
    let (sin, cos) = double_double::sin_cos(1.0);
    near(sin, 0.841_470_984_807_896_5, 1.776_845_092_935_536e-18);
    near(cos, 0.540_302_305_868_139_8, -4.760_954_612_604_417e-17);
    let (sin, cos) = double_double::sin_cos(1e5);
    near(sin, 0.035_748_797_972_016_51, 1.542_974_370_610_986_1e-18);
    near(cos, -0.999_360_807_438_212_4, -2.344_708_890_518_740_2e-17);
    let mut dice = Dice(0x5eed_0001);
    for _ in 0..1000 {
        let x = between(&mut dice, -700.0, 700.0);
        let ((up, n), (down, m)) = (double_double::exp(x), double_double::exp(-x));
        assert_eq!(n, -m);
        near(up.times(down), 1.0, 0.0);
        let (sin, cos) = double_double::sin_cos(between(&mut dice, -1e9, 1e9));
        near(sin.times(sin).plus(cos.times(cos)), 1.0, 0.0);
    }
}

#[test]
fn an_error_of_known_size_is_measured() {
    let exact = Double { hi: 1.5, lo: 0.0 };
    assert_eq!(ulp(1.5_f64.next_up(), exact, 0), 1.0);
    assert_eq!(ulp(1.5_f64.next_down() * power_of_two(-900), exact, -900), -1.0);
    // 1.5 · 2⁻¹⁰⁷⁴ is halfway between the smallest number and the next.
    assert_eq!(ulp(5e-324, exact, -1074), -0.5);
}

#[test]
fn exp_is_exact_to_0_8_ulp() {
    let mut dice = Dice(0x5eed_0002);
    let mut arguments = Vec::new();
    for _ in 0..100_000 {
        arguments.push(between(&mut dice, -708.3, 709.7));
        arguments.push(between(&mut dice, -2.0, 2.0));
        arguments.push(of_any_size(&mut dice, 9));
        // Where the number of halvings changes.
        let half = between(&mut dice, -1000.0, 1000.0).floor() + 0.5;
        arguments.push(half * LN_2 + between(&mut dice, -1e-12, 1e-12));
    }
    assert!(worst("exp", &arguments, error_of_exp) < 0.8);
    let subnormal: Vec<f64> = (0..100_000).map(|_| between(&mut dice, -746.0, -708.3)).collect();
    assert!(worst("exp, subnormal", &subnormal, error_of_exp) < 1.0);
}

#[test]
fn exp_has_its_limits() {
    assert_eq!(math::exp(0.0), 1.0);
    assert_eq!(math::exp(-0.0), 1.0);
    assert_eq!(math::exp(1.0), E);
    assert_eq!(math::exp(f64::NEG_INFINITY).to_bits(), 0);
    assert_eq!(math::exp(f64::INFINITY), f64::INFINITY);
    assert!(math::exp(f64::NAN).is_nan());
    // The last arguments with a finite and with a positive result.
    assert!(math::exp(709.782_712_893_384) < f64::INFINITY);
    assert_eq!(math::exp(709.782_712_893_384_1), f64::INFINITY);
    assert_eq!(math::exp(-745.133_219_101_941_1), 5e-324);
    assert_eq!(math::exp(-745.133_219_101_941_2), 0.0);
    for x in [-1e300, -746.1, 710.1, 1e300] {
        assert_eq!(math::exp(x), if x < 0.0 { 0.0 } else { f64::INFINITY });
    }
}

/// Up to 10⁵ rad: the hardest arguments are those next to a multiple of `π/2`.
#[test]
fn sin_cos_is_exact_to_0_9_ulp() {
    let mut dice = Dice(0x5eed_0003);
    let mut arguments = Vec::new();
    for k in 1..63_662 {
        let x = f64::from(k) * FRAC_PI_2;
        arguments.extend([x, x.next_up(), -x.next_down()]);
    }
    for _ in 0..100_000 {
        arguments.push(between(&mut dice, -1e5, 1e5));
        arguments.push(between(&mut dice, -4.0, 4.0));
        arguments.push(of_any_size(&mut dice, 16));
        // Where the number of quarter turns changes.
        let half = between(&mut dice, -63_000.0, 63_000.0).floor() + 0.5;
        let x = half * FRAC_PI_2;
        arguments.push(x + x * between(&mut dice, -1e-15, 1e-15));
    }
    let sin = |x: f64| ulp(math::sin_cos(x).0, double_double::sin_cos(x).0, 0);
    let cos = |x: f64| ulp(math::sin_cos(x).1, double_double::sin_cos(x).1, 0);
    assert!(worst("sin", &arguments, sin) < 0.9);
    assert!(worst("cos", &arguments, cos) < 0.9);
    let far: Vec<f64> = (0..20_000).map(|_| between(&mut dice, 1e5, 1e9)).collect();
    assert!(worst("sin, far", &far, sin) < 1.0);
    assert!(worst("cos, far", &far, cos) < 1.0);
}

#[test]
fn sin_cos_has_its_limits() {
    for x in [0.0, -0.0, 5e-324, -5e-324, -2.2e-308, 1e-20] {
        let (sin, cos) = math::sin_cos(x);
        assert_eq!((sin.to_bits(), cos), (x.to_bits(), 1.0), "{x:e}");
    }
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let (sin, cos) = math::sin_cos(x);
        assert!(sin.is_nan() && cos.is_nan(), "{x}: {sin}, {cos}");
    }
}

#[test]
fn step_up_is_clamped_and_keeps_nan() {
    for (x, y) in [(-1.0, 0.0), (0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (7.0, 1.0)] {
        assert_eq!(math::step_up(x), y);
    }
    assert!(math::step_up(f64::NAN).is_nan());
}

/// `program` in groups of two or four, the last group filled up with zeros.
fn in_groups<T: SimdReal>(program: &impl Program, numbers: &[f64]) -> Vec<f64> {
    let groups = numbers.chunks(T::COUNT);
    let out = groups.flat_map(|g| {
        let y = program.run(T::from_lanes(|i| g.get(i).copied().unwrap_or(0.0)));
        (0..g.len()).map(move |i| y.lane(i)).collect::<Vec<_>>()
    });
    out.collect()
}

/// Two lanes, four lanes and whatever this machine has best against one number after another. Which
/// NaN an operation gives is open; that it is one, and any bit of other numbers, is not.
fn assert_same_bits(name: &str, program: &impl Program, numbers: &[f64]) {
    let mut best = numbers.to_vec();
    map_lanes(program, &mut best);
    let all = [in_groups::<F64x2>(program, numbers), in_groups::<F64x4>(program, numbers), best];
    for (i, &x) in numbers.iter().enumerate() {
        let alone = program.run(x);
        for (lanes, found) in ["two", "four", "best"].iter().zip(&all) {
            let same = found[i].to_bits() == alone.to_bits();
            let nan = found[i].is_nan() && alone.is_nan();
            assert!(same || nan, "{name}({x:e}): {alone:e}, in {lanes} lanes {:e}", found[i]);
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Function {
    Exp,
    Sin,
    Cos,
    StepUp,
}

impl Program for Function {
    #[inline(always)]
    fn run<T: SimdReal>(&self, x: T) -> T {
        match self {
            Self::Exp => math::exp(x),
            Self::Sin => math::sin_cos(x).0,
            Self::Cos => math::sin_cos(x).1,
            Self::StepUp => math::step_up(x),
        }
    }
}

#[test]
fn functions_have_the_same_bits_in_every_lane() {
    let mut dice = Dice(0x5eed_0004);
    // An odd number of them, so that a rest is left over; some groups mix near and far arguments.
    let mut numbers = SPECIAL.to_vec();
    for _ in 0..20_001 {
        numbers.push(f64::from_bits(dice.roll(u64::MAX)));
        numbers.push(of_any_size(&mut dice, 18));
        numbers.push(between(&mut dice, -800.0, 800.0));
        numbers.push(between(&mut dice, -2.0, 2.0));
        numbers.push(between(&mut dice, -1.2e5, 1.2e5));
    }
    for f in [Function::Exp, Function::Sin, Function::Cos, Function::StepUp] {
        assert_same_bits(&format!("{f:?}"), &f, &numbers);
    }
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Plus,
    Minus,
    Times,
    Over,
    Assigned,
    Negative,
    Root,
    Amount,
    Flipped,
    Above,
    Larger,
    Smaller,
    NearestWhole,
}

/// An operation and its right-hand side.
struct With(Operation, f64);

impl Program for With {
    #[inline(always)]
    fn run<T: SimdReal>(&self, x: T) -> T {
        let o = T::splat(self.1);
        match self.0 {
            Operation::Plus => x + o,
            Operation::Minus => x - o,
            Operation::Times => x * o,
            Operation::Over => x / o,
            Operation::Assigned => {
                let mut y = x;
                y += o;
                y *= x;
                y -= o;
                y
            }
            Operation::Negative => -x,
            Operation::Root => x.sqrt(),
            Operation::Amount => x.abs(),
            Operation::Flipped => x.flipped_by(o),
            Operation::Above => T::select(x.above(o), x, -o),
            Operation::Larger => x.larger(o),
            Operation::Smaller => x.smaller(o),
            Operation::NearestWhole => x.nearest_whole(),
        }
    }
}

#[test]
fn operations_have_the_same_bits_in_every_lane() {
    let mut dice = Dice(0x5eed_0005);
    let mut numbers = SPECIAL.to_vec();
    numbers.extend((0..101).map(|_| f64::from_bits(dice.roll(u64::MAX))));
    numbers.extend((0..50).map(|_| of_any_size(&mut dice, 2)));
    use Operation::*;
    let all = [
        Plus,
        Minus,
        Times,
        Over,
        Assigned,
        Negative,
        Root,
        Amount,
        Flipped,
        Above,
        Larger,
        Smaller,
        NearestWhole,
    ];
    for operation in all {
        for &right in &numbers {
            let name = format!("{operation:?} with {right:e}");
            assert_same_bits(&name, &With(operation, right), &numbers);
        }
    }
}

/// What the operations mean for one number, so that lanes cannot agree on something wrong.
#[test]
fn operations_mean_what_they_say() {
    let run = |operation, x: f64, right| With(operation, right).run(x);
    assert_eq!(run(Operation::Above, 2.0, 1.0), 2.0);
    assert_eq!(run(Operation::Above, 1.0, 1.0), -1.0);
    assert_eq!(run(Operation::Above, f64::NAN, 1.0), -1.0);
    assert_eq!(run(Operation::Flipped, 3.0, -2.0), -3.0);
    assert_eq!(run(Operation::Flipped, -3.0, -0.0), 3.0);
    assert_eq!(run(Operation::Flipped, 3.0, 0.0), 3.0);
    assert_eq!(run(Operation::Larger, -1.0, 2.0), 2.0);
    assert_eq!(run(Operation::Smaller, -1.0, 2.0), -1.0);
    // The second one where neither is larger.
    assert_eq!(run(Operation::Larger, f64::NAN, 2.0), 2.0);
    assert!(run(Operation::Smaller, 2.0, f64::NAN).is_nan());
    assert_eq!(run(Operation::Larger, 0.0, -0.0).to_bits(), (-0.0_f64).to_bits());
    for (x, whole) in [(2.5, 2.0), (3.5, 4.0), (-0.7, -1.0), (-0.2, 0.0), (1e15, 1e15)] {
        assert_eq!(run(Operation::NearestWhole, x, 0.0), whole);
    }
}

struct PowerOfTwo;

impl Program for PowerOfTwo {
    #[inline(always)]
    fn run<T: SimdReal>(&self, x: T) -> T {
        x.two_to_the()
    }
}

#[test]
fn powers_of_two_are_exact() {
    let exponents: Vec<f64> = (-1022..1024).map(f64::from).collect();
    let mut expected = f64::MIN_POSITIVE;
    for &k in &exponents {
        assert_eq!(PowerOfTwo.run(k), expected);
        expected += expected;
    }
    assert_same_bits("two_to_the", &PowerOfTwo, &exponents);
}

/// 1 in all lanes if any is positive.
struct AnyPositive;

impl Program for AnyPositive {
    #[inline(always)]
    fn run<T: SimdReal>(&self, x: T) -> T {
        T::splat(if T::any(x.above(T::splat(0.0))) { 1.0 } else { 0.0 })
    }
}

#[test]
fn any_sees_every_lane() {
    for lane in 0..4 {
        for (value, expected) in [(3.0, 1.0), (-3.0, 0.0), (f64::NAN, 0.0)] {
            let mut numbers = [-1.0; 4];
            numbers[lane] = value;
            let mut best = numbers;
            map_lanes(&AnyPositive, &mut best);
            assert_eq!(best, [expected; 4]);
            assert_eq!(in_groups::<F64x4>(&AnyPositive, &numbers), best);
            let pair = &numbers[lane / 2 * 2..][..2];
            assert_eq!(in_groups::<F64x2>(&AnyPositive, pair), best[..2]);
        }
    }
    assert_eq!([AnyPositive.run(1.0), AnyPositive.run(-1.0)], [1.0, 0.0]);
}

#[test]
fn there_is_no_lane_beyond_the_last() {
    assert!(catch_unwind(|| 1.0_f64.lane(1)).is_err());
    assert!(catch_unwind(|| F64x2::splat(1.0).lane(2)).is_err());
    assert!(catch_unwind(|| F64x4::splat(1.0).lane(4)).is_err());
}
