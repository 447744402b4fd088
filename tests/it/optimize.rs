//! The search for the least of a function.

use hardstand::optimize::{Search, SplitMix};

/// Values `f` of each point, for `generations`.
fn run(search: &mut Search, generations: usize, f: impl Fn(&[f64]) -> f64) {
    for _ in 0..generations {
        let values: Vec<f64> = search.ask().iter().map(|x| f(x)).collect();
        search.tell(&values);
    }
}

/// A bent valley (Rosenbrock): a search without a memory of directions needs far longer.
fn valley(x: &[f64]) -> f64 {
    let step = |w: &[f64]| {
        let (along, across) = (1.0 - w[0], w[1] - w[0] * w[0]);
        along * along + 100.0 * across * across
    };
    x.windows(2).map(step).sum()
}

#[test]
fn the_end_of_a_bent_valley_is_found() {
    let mut search = Search::new(&[-0.5; 4], 0.3, 10, 1);
    run(&mut search, 400, valley);
    let (x, least) = search.best();
    assert!(least < 1e-8, "{least} at {x:?}");
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-3), "{x:?}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_others() {
    let bits = |seed| {
        let mut search = Search::new(&[0.5; 3], 0.2, 8, seed);
        run(&mut search, 30, valley);
        search.mean().iter().map(|x| x.to_bits()).collect::<Vec<u64>>()
    };
    assert_eq!(bits(7), bits(7));
    assert_ne!(bits(7), bits(8));
}

#[test]
fn values_that_are_no_numbers_or_missing_are_the_worst() {
    let mut search = Search::new(&[0.5; 2], 0.2, 8, 3);
    for _ in 0..80 {
        let values: Vec<f64> = search.ask().iter().map(|x| valley(x)).collect();
        let half = values.iter().map(|v| if *v > 2.0 { f64::NAN } else { *v });
        let values: Vec<f64> = half.collect();
        search.tell(&values[..7]);
    }
    assert!((0.0..1e-6).contains(&search.best().1), "{:?}", search.best());
    assert!(search.step().is_finite());
}

#[test]
fn variates_have_mean_0_and_deviation_1() {
    let mut random = SplitMix(5);
    let n = 100_000;
    let drawn: Vec<f64> = (0..n).map(|_| random.normal()).collect();
    let mean = drawn.iter().sum::<f64>() / f64::from(n);
    let square = drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n);
    // five standard errors: 1/√n of the mean, √(2/n) of the square
    assert!(mean.abs() < 0.016, "{mean}");
    assert!((square - 1.0).abs() < 0.023, "{square}");
}
