//! Arguments of `plot` and `export`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

#[derive(Debug, Args)]
pub(in crate::cli) struct PlotArguments {
    /// Log
    #[arg(value_name = "LOG")]
    pub(in crate::cli) log: PathBuf,
    /// base, feet, joints, efforts, friction, imu, latency, or names of quantities, in which *
    /// stands for any text ('joint.*.dq'); `hardstand bisect LOG --list` shows all names
    #[arg(value_name = "WHAT", required = true)]
    pub(in crate::cli) what: Vec<String>,
    /// Drawing to write, .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub(in crate::cli) output: PathBuf,
    /// Simulated time at which the drawing begins, s
    #[arg(long, value_name = "S", default_value_t = 0.0)]
    pub(in crate::cli) from: f64,
    /// Simulated time at which it ends, s [default: the end of the log]
    #[arg(long, value_name = "S")]
    pub(in crate::cli) to: Option<f64>,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("format").required(true).multiple(true).args(["csv", "parquet"]))]
pub(in crate::cli) struct ExportArguments {
    /// Log
    #[arg(value_name = "LOG")]
    pub(in crate::cli) log: PathBuf,
    /// Table to write as CSV; the first line has names and units
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) csv: Option<PathBuf>,
    /// Table to write as Parquet, for pandas, polars and DuckDB
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) parquet: Option<PathBuf>,
    /// Only quantities of this name, in which * stands for any text (repeatable)
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) only: Vec<String>,
    /// Every Nth tick
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub(in crate::cli) every: u64,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
