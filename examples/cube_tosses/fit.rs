//! Finds parameters on the tosses of a file.

use hardstand::optimize::Search;

use crate::cube::Result;
use crate::cube::data::Tosses;
use crate::cube::laws::{Law, Parameter};
use crate::cube::predict::Setting;
use crate::cube::score::{cost, errors, on_two_threads};

/// Points of a generation, and generations: the same for every law and for MuJoCo.
const POPULATION: usize = 14;
const GENERATIONS: usize = 34;
/// First standard deviation, in units of each parameter's range.
const STEP: f64 = 0.12;
const SEED: u64 = 1;
/// What a point costs outside of its range, per squared unit of the range.
const OUTSIDE: f64 = 100.0;

/// Values of a law that make the cost on the chosen tosses small.
pub(crate) fn fit_law(
    of: &Tosses,
    chosen: &[usize],
    law: Law,
    setting: &Setting,
) -> Result<Vec<f64>> {
    search(law.key(), law.parameters(), |points| {
        let one =
            |i: usize| errors(of, chosen, law, &points[i], setting).map_or(f64::NAN, |e| cost(&e));
        Ok(on_two_threads(points.len(), one))
    })
}

/// Begins at [`Parameter::first`]; `costs` has one value for each of the points that it is given.
pub(crate) fn search(
    name: &str,
    parameters: &[Parameter],
    mut costs: impl FnMut(&[Vec<f64>]) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let values = |u: &[f64]| parameters.iter().zip(u).map(|(p, u)| p.at(*u)).collect::<Vec<f64>>();
    let first: Vec<f64> = parameters.iter().map(|p| p.place(p.first)).collect();
    let mut search = Search::new(&first, STEP, POPULATION, SEED);
    for generation in 1..=GENERATIONS {
        let places = search.ask().to_vec();
        let points: Vec<Vec<f64>> = places.iter().map(|u| values(u)).collect();
        let mut found = costs(&points)?;
        for (cost, u) in found.iter_mut().zip(&places) {
            let beyond = |u: &f64| u - u.clamp(0.0, 1.0);
            *cost += u.iter().map(|u| OUTSIDE * beyond(u) * beyond(u)).sum::<f64>();
        }
        search.tell(&found);
        if generation % 10 == 0 || generation == GENERATIONS {
            eprintln!("{name}: generation {generation} of {GENERATIONS}: {:.2}", search.best().1);
        }
    }
    Ok(values(search.best().0))
}
