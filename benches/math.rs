//! Elementary functions, a stream of 256 numbers at a time: `cargo bench --bench math`. `libm` is
//! what they are measured against; `best` is what `map_lanes` chooses on this machine.
#![allow(missing_docs)]

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use hardstand_physics::math::{self, Program, map_lanes};
use hardstand_physics::simd::{F64x2, F64x4, SimdReal};

fn main() {
    divan::main();
}

const COUNT: usize = 256;

/// Evenly distributed over `[−9, 9)`.
fn arguments() -> Vec<f64> {
    (0..COUNT).map(|i| (i as f64 / COUNT as f64 - 0.5) * 18.0).collect()
}

struct Exp;

impl Program for Exp {
    #[inline(always)]
    fn run<T: SimdReal>(&self, x: T) -> T {
        math::exp(x)
    }
}

/// The product of both, so that the compiler keeps both.
struct SinTimesCos;

impl Program for SinTimesCos {
    #[inline(always)]
    fn run<T: SimdReal>(&self, x: T) -> T {
        let (sin, cos) = math::sin_cos(x);
        sin * cos
    }
}

fn in_lanes<T: SimdReal>(bencher: Bencher<'_, '_>, program: &impl Program) {
    let numbers = arguments();
    let mut out = numbers.clone();
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        let groups = black_box(&numbers).chunks_exact(T::COUNT);
        for (x, y) in groups.zip(out.chunks_exact_mut(T::COUNT)) {
            let result = program.run(T::from_lanes(|i| x[i]));
            for (i, y) in y.iter_mut().enumerate() {
                *y = result.lane(i);
            }
        }
        black_box(&mut out);
    });
}

fn in_best(bencher: Bencher<'_, '_>, program: &impl Program) {
    let numbers = arguments();
    let mut out = numbers.clone();
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        out.copy_from_slice(black_box(&numbers));
        map_lanes(program, &mut out);
        black_box(&mut out);
    });
}

fn by_itself(bencher: Bencher<'_, '_>, f: impl Fn(f64) -> f64) {
    let numbers = arguments();
    let mut out = numbers.clone();
    bencher.counter(ItemsCount::new(COUNT)).bench_local(|| {
        for (x, y) in black_box(&numbers).iter().zip(&mut out) {
            *y = f(*x);
        }
        black_box(&mut out);
    });
}

#[divan::bench]
fn exp_libm(bencher: Bencher<'_, '_>) {
    by_itself(bencher, libm::exp);
}

#[divan::bench]
fn exp_1(bencher: Bencher<'_, '_>) {
    in_lanes::<f64>(bencher, &Exp);
}

#[divan::bench]
fn exp_2(bencher: Bencher<'_, '_>) {
    in_lanes::<F64x2>(bencher, &Exp);
}

#[divan::bench]
fn exp_4(bencher: Bencher<'_, '_>) {
    in_lanes::<F64x4>(bencher, &Exp);
}

#[divan::bench]
fn exp_best(bencher: Bencher<'_, '_>) {
    in_best(bencher, &Exp);
}

#[divan::bench]
fn sin_cos_libm(bencher: Bencher<'_, '_>) {
    by_itself(bencher, |x| {
        let (sin, cos) = libm::sincos(x);
        sin * cos
    });
}

#[divan::bench]
fn sin_cos_1(bencher: Bencher<'_, '_>) {
    in_lanes::<f64>(bencher, &SinTimesCos);
}

#[divan::bench]
fn sin_cos_2(bencher: Bencher<'_, '_>) {
    in_lanes::<F64x2>(bencher, &SinTimesCos);
}

#[divan::bench]
fn sin_cos_4(bencher: Bencher<'_, '_>) {
    in_lanes::<F64x4>(bencher, &SinTimesCos);
}

#[divan::bench]
fn sin_cos_best(bencher: Bencher<'_, '_>) {
    in_best(bencher, &SinTimesCos);
}
