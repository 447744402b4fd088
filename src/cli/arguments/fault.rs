//! What `hardstand ctl fault` takes: a command for each kind of the table, with options for its
//! parameters.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, Subcommand, value_parser};

use hardstand_protocol::{FaultKind, FaultSpec};

use super::daemon::DaemonArguments;

/// A fault to inject.
#[derive(Debug)]
pub(in crate::cli) struct FaultArguments {
    pub(in crate::cli) row: &'static FaultSpec,
    /// The part that it acts on: kind of part and name.
    pub(in crate::cli) on: Option<(&'static str, String)>,
    pub(in crate::cli) values: Vec<f64>,
    pub(in crate::cli) duration_s: Option<f64>,
    pub(in crate::cli) daemon: DaemonArguments,
}

impl Subcommand for FaultArguments {
    fn augment_subcommands(command: Command) -> Command {
        const TABLE: &[FaultSpec] = &FaultKind::TABLE;
        command.subcommand_required(true).subcommands(TABLE.iter().map(subcommand))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        FaultSpec::named(name).is_some()
    }
}

fn subcommand(row: &'static FaultSpec) -> Command {
    let example = format!("Example: hardstand ctl fault {} {}", row.name, row.example);
    let mut command = DaemonArguments::augment_args(Command::new(row.name));
    command = command.about(row.what).long_about(None).after_help(example);
    let (words, needed) = (row.place.words(), row.place.is_needed());
    for &word in words {
        let others = words.iter().filter(|w| **w != word).copied();
        let name = Arg::new(word).long(word).value_name("NAME").required(needed);
        let all = if needed { "" } else { " [default: all]" };
        let help = format!("Name of the {word}{all}");
        command = command.arg(name.help(help).conflicts_with_all(others));
    }
    for p in row.parameters {
        let help = format!("{} {}", p.describe(), p.unit);
        let values = Arg::new(p.name)
            .long(p.name.replace('_', "-"))
            .num_args(p.count)
            .action(ArgAction::Set);
        let values = values.value_parser(value_parser!(f64)).allow_negative_numbers(true);
        let values = values.value_name("X").required(p.default.is_none());
        command = command.arg(match p.default {
            Some(default) => values.help(format!("{} [default: {default}]", help.trim_end())),
            None => values.help(help.trim_end().to_string()),
        });
    }
    let until = if row.needs_duration { "" } else { " [default: until it is cleared]" };
    let duration = Arg::new("duration")
        .long("duration")
        .value_name("S")
        .help(format!("Duration, s; at least one tick{until}"));
    let duration = duration.value_parser(value_parser!(f64)).required(row.needs_duration);
    command.arg(duration.allow_negative_numbers(true))
}

impl FromArgMatches for FaultArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let row = FaultSpec::named(name).ok_or_else(missing)?;
        let named = |word: &&'static str| Some((*word, matches.get_one::<String>(word)?.clone()));
        let mut values = Vec::new();
        for p in row.parameters {
            match (matches.get_many::<f64>(p.name), p.default) {
                (Some(given), _) => values.extend(given),
                (None, default) => values.extend(vec![default.unwrap_or_default(); p.count]),
            }
        }
        Ok(Self {
            row,
            on: row.place.words().iter().find_map(named),
            values,
            duration_s: matches.get_one("duration").copied(),
            daemon: DaemonArguments::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
