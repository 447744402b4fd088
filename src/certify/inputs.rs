//! What a run depends on besides the plant: programs, files, packages, environment.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use hardstand_error::{Error, ErrorKind, Result};

/// A file with its contents' hash.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HashedFile {
    /// Its path, as it was given or found.
    pub file: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 of its contents, 64 hex digits.
    pub sha256: String,
}

/// What decided the runs of a certificate. As JSON, its fields are those of `docs/certify.md`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// This program.
    pub daemon: HashedFile,
    /// The scenario, its robot, its overlays.
    pub scenario: Vec<HashedFile>,
    /// The controller's program, the files that its command names, and those of `--file`.
    pub controller: Vec<HashedFile>,
    /// Programs and libraries that the controller's processes had in memory in the reference.
    pub libraries: Vec<HashedFile>,
    /// Python and its packages, `NAME VERSION`, if the controller is a program in Python.
    pub packages: Vec<String>,
    /// Variables that change how programs compute, with their values.
    pub environment: BTreeMap<String, String>,
    /// Names of all other variables. Their values may be secret.
    pub other_variables: Vec<String>,
    /// The log of the reference; empty where there is none.
    pub reference_log: HashedFile,
}

/// An input that differs from that of another certificate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// `daemon`, `scenario`, `controller`, `library`, `package` or `variable`.
    pub what: &'static str,
    /// Name of the file, package or variable.
    pub name: String,
    /// Hash, version or value there; `None` if it was not there.
    pub then: Option<String>,
    /// The same here.
    pub now: Option<String>,
}

/// Variables with these beginnings are recorded with their values: they decide hash order, threads,
/// libraries, languages, middleware. None of them is meant for a secret.
const RECORDED: [&str; 21] = [
    "PYTHON",
    "LD_",
    "GLIBC_TUNABLES",
    "MALLOC_",
    "OMP_",
    "KMP_",
    "OPENBLAS_",
    "MKL_",
    "BLIS_",
    "NUMEXPR_",
    "TORCH",
    "CUDA_",
    "ORT_",
    "LANG",
    "LC_",
    "TZ",
    "ROS_",
    "RMW_",
    "CYCLONEDDS_",
    "FASTRTPS_",
    "FASTDDS_",
];
/// The variable that fixes the order of sets and dictionaries of text in Python.
const HASH_SEED: &str = "PYTHONHASHSEED";

/// Hashes each file once.
#[derive(Default)]
pub(super) struct FileHasher(BTreeMap<PathBuf, HashedFile>);

impl FileHasher {
    pub(super) fn of(&mut self, file: &Path) -> Result<HashedFile> {
        if let Some(known) = self.0.get(file) {
            return Ok(known.clone());
        }
        let hashed = hash(file).map_err(|e| {
            Error::new(ErrorKind::File, format!("cannot read {}: {e}", file.display()))
        })?;
        self.0.insert(file.into(), hashed.clone());
        Ok(hashed)
    }

    fn all<'a>(&mut self, files: impl IntoIterator<Item = &'a PathBuf>) -> Result<Vec<HashedFile>> {
        files.into_iter().map(|file| self.of(file)).collect()
    }
}

fn hash(file: &Path) -> std::io::Result<HashedFile> {
    let (mut open, mut hasher) = (File::open(file)?, Sha256::new());
    let (mut buffer, mut bytes) = (vec![0; 1 << 20], 0);
    loop {
        let n = open.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        hasher.update(buffer.get(..n).unwrap_or_default());
        bytes += n as u64;
    }
    let sha256 = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(HashedFile { file: file.display().to_string(), bytes, sha256 })
}

impl Inputs {
    /// Those of a controller's command here, before it runs; `more` are files and folders of
    /// `--file`.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if a file cannot be read.
    pub fn here(scenario: &[PathBuf], command: &[OsString], more: &[PathBuf]) -> Result<Self> {
        let mut hasher = FileHasher::default();
        let mut files = named_files(command);
        files.extend(command.first().and_then(|name| program(Path::new(name))));
        for file in more {
            collect(file, &mut files)?;
        }
        let is_recorded = |name: &str| RECORDED.iter().any(|begin| name.starts_with(begin));
        let variables = std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
            .filter(|(name, _)| name != "_"); // what the shell has run last
        let (recorded, others): (Vec<_>, Vec<_>) = variables.partition(|(n, _)| is_recorded(n));
        let recorded = recorded.into_iter().map(|(n, v)| (n, v.to_string_lossy().into_owned()));
        let mut other_variables: Vec<_> = others.into_iter().map(|(name, _)| name).collect();
        other_variables.sort();
        Ok(Self {
            daemon: hasher.of(&crate::process_harness::this_program()?)?,
            scenario: hasher.all(scenario)?,
            controller: hasher.all(&files)?,
            libraries: Vec::new(),
            packages: python_of(command).map_or_else(Vec::new, |python| packages(&python)),
            environment: recorded.collect(),
            other_variables,
            reference_log: HashedFile::default(),
        })
    }

    /// Adds what the controller's processes had in memory, and the log of the reference.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if the log cannot be read.
    pub fn add_of_reference(&mut self, mapped: &BTreeSet<PathBuf>, log: &Path) -> Result<()> {
        let mut hasher = FileHasher::default();
        // a library that was replaced meanwhile has no file any more
        self.libraries = mapped.iter().filter_map(|file| hasher.of(file).ok()).collect();
        self.reference_log = hasher.of(log)?;
        Ok(())
    }

    /// Refuses files of the scenario and of the controller that are others now: a run may have had
    /// either.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] with their names.
    pub fn refuse_changed(&self) -> Result<()> {
        let mut hasher = FileHasher::default();
        let changed: Vec<&str> = self
            .scenario
            .iter()
            .chain(&self.controller)
            .filter(|then| hasher.of(Path::new(&then.file)).ok().as_ref() != Some(*then))
            .map(|then| then.file.as_str())
            .collect();
        if changed.is_empty() {
            return Ok(());
        }
        let text = format!("changed while the runs took place: {}; run again", changed.join(", "));
        Err(Error::new(ErrorKind::Input, text))
    }

    /// True if Python's hash order was fixed: a controller that depends on it then repeats.
    #[must_use]
    pub fn hash_order_is_fixed(&self) -> bool {
        self.environment.get(HASH_SEED).is_some_and(|value| is_fixed(value))
    }

    /// What is another here than `then`. Files are compared by name and contents, not by folder.
    #[must_use]
    pub fn differences(&self, then: &Self) -> Vec<InputDifference> {
        let one = |file: &HashedFile| hashes(std::slice::from_ref(file));
        let pairs = [
            ("daemon", one(&then.daemon), one(&self.daemon)),
            ("scenario", hashes(&then.scenario), hashes(&self.scenario)),
            ("controller", hashes(&then.controller), hashes(&self.controller)),
            ("library", hashes(&then.libraries), hashes(&self.libraries)),
            ("package", versions(&then.packages), versions(&self.packages)),
            ("variable", then.environment.clone(), self.environment.clone()),
        ];
        let mut out = Vec::new();
        for (what, then, now) in pairs {
            let names: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
            out.extend(names.into_iter().filter(|&name| then.get(name) != now.get(name)).map(
                |name| InputDifference {
                    what,
                    name: name.clone(),
                    then: then.get(name).cloned(),
                    now: now.get(name).cloned(),
                },
            ));
        }
        out
    }
}

fn is_fixed(seed: &str) -> bool {
    seed != "random" && !seed.is_empty()
}

/// True if a controller's command fixes Python's hash order itself.
#[must_use]
pub fn sets_hash_order(command: &[OsString]) -> bool {
    let words = command.iter().filter_map(|word| word.to_str()?.split_once('='));
    words.into_iter().any(|(name, value)| name == HASH_SEED && is_fixed(value))
}

/// Files among the words of a command behind the first, also those of `--option=FILE`.
pub(crate) fn named_files(command: &[OsString]) -> BTreeSet<PathBuf> {
    let words = command.iter().skip(1).map(PathBuf::from);
    let value = |word: &OsString| Some(PathBuf::from(word.to_str()?.split_once('=')?.1));
    let values = command.iter().skip(1).filter_map(value);
    words.chain(values).filter(|file| file.is_file()).collect()
}

/// The Python that runs a command: of its program, or of a word behind it, as after `env`.
fn python_of(command: &[OsString]) -> Option<PathBuf> {
    let of = |(i, word): (usize, &OsString)| {
        let name = Path::new(word);
        let is_named = name.file_name()?.to_string_lossy().starts_with("python");
        (i == 0 || is_named).then(|| program(name).and_then(|file| python(&file)))?
    };
    command.iter().enumerate().find_map(of)
}

/// Name without folder → hash; files of one name are counted.
fn hashes(files: &[HashedFile]) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for hashed in files {
        let name = Path::new(&hashed.file).file_name().unwrap_or_default().to_string_lossy();
        let mut key = name.clone().into_owned();
        let mut count = 1;
        while out.contains_key(&key) {
            count += 1;
            key = format!("{name} ({count})");
        }
        out.insert(key, hashed.sha256.clone());
    }
    out
}

fn versions(packages: &[String]) -> BTreeMap<String, String> {
    let split = packages.iter().filter_map(|package| package.rsplit_once(' '));
    split.map(|(name, version)| (name.into(), version.into())).collect()
}

/// A file, or all files of a folder.
fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) -> Result<()> {
    if !path.is_dir() {
        files.insert(path.into());
        return Ok(());
    }
    let failed =
        |e: std::io::Error| Error::new(ErrorKind::File, format!("{}: {e}", path.display()));
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // a link to a folder may lead back here
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        if is_folder || entry.path().is_file() {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

/// The file of a program, as the system finds it.
fn program(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.into());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The Python that runs a program: itself, or the one that its first line names.
fn python(file: &Path) -> Option<PathBuf> {
    let is_python = |path: &Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
    };
    if is_python(file) {
        return Some(file.into());
    }
    let mut line = Vec::new();
    BufReader::new(File::open(file).ok()?.take(256)).read_until(b'\n', &mut line).ok()?;
    let line = String::from_utf8(line).ok()?;
    let mut words = line.strip_prefix("#!")?.split_whitespace();
    words.find(|word| is_python(Path::new(word))).and_then(|word| program(Path::new(word)))
}

/// Version and packages of a Python; none if it does not run.
fn packages(python: &Path) -> Vec<String> {
    const PROGRAM: &str = "import importlib.metadata as m, platform\n\
        print('python', platform.python_version())\n\
        seen = {}\n\
        for d in m.distributions(): seen.setdefault(d.metadata['Name'], d.version)\n\
        for name, version in seen.items(): print(name, version)";
    let mut command = Command::new(python);
    command.args(["-c", PROGRAM]).stdin(Stdio::null()).stderr(Stdio::null());
    let Ok(out) = command.output() else { return Vec::new() };
    let names: BTreeSet<&str> =
        std::str::from_utf8(&out.stdout).unwrap_or_default().lines().collect();
    names.into_iter().map(str::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::{HashedFile, Inputs};

    fn inputs(hash: &str, packages: &[&str], seed: Option<&str>) -> Inputs {
        let file = |file: &str| HashedFile { file: file.into(), bytes: 1, sha256: hash.into() };
        let seed = seed.map(|value| ("PYTHONHASHSEED".to_string(), value.to_string()));
        Inputs {
            controller: vec![file("/somewhere/walk.py")],
            packages: packages.iter().map(|p| (*p).to_string()).collect(),
            environment: seed.into_iter().collect(),
            ..Inputs::default()
        }
    }

    #[test]
    fn what_differs_is_named_and_folders_do_not_matter() {
        let then = inputs("aa", &["numpy 2.4.6", "scipy 1.1"], Some("0"));
        let mut now = inputs("aa", &["numpy 2.4.6", "scipy 1.1"], Some("0"));
        now.controller[0].file = "/elsewhere/walk.py".into();
        assert!(now.differences(&then).is_empty());
        let now = inputs("bb", &["numpy 2.5.0"], None);
        let found: Vec<_> = now.differences(&then).into_iter().map(|d| (d.what, d.name)).collect();
        let names = [
            ("controller", "walk.py"),
            ("package", "numpy"),
            ("package", "scipy"),
            ("variable", "PYTHONHASHSEED"),
        ];
        assert_eq!(found, names.map(|(what, name)| (what, name.to_string())));
    }

    #[test]
    fn a_fixed_hash_order_is_seen() {
        for (seed, fixed) in [(None, false), (Some("random"), false), (Some("0"), true)] {
            assert_eq!(inputs("aa", &[], seed).hash_order_is_fixed(), fixed, "{seed:?}");
        }
    }
}
