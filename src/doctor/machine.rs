//! The machine as its files show it, under any root: tests bring trees of their own.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// Most CPUs that are counted.
const CPUS_MAX: usize = 8192;

/// Where the kernel writes the load.
pub(super) const LOAD_FILE: &str = "/proc/loadavg";

/// A machine and the core that the physics thread is to have.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
    /// Core of the physics thread.
    pub core: usize,
    /// `SCHED_FIFO` priority that it asks for.
    pub priority: u8,
}

impl Machine {
    /// The machine whose files are under `root`, normally `/`.
    #[must_use]
    pub fn new(root: &Path, core: usize, priority: u8) -> Self {
        Self { root: root.into(), core, priority }
    }

    /// The load of the last minute, and the number of CPUs.
    #[must_use]
    pub fn load(&self) -> Option<(f64, usize)> {
        let load = self.read(LOAD_FILE)?.split_whitespace().next()?.parse().ok()?;
        Some((load, self.online().map_or(1, |list| list.len())))
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// A file without the white space around it; `None` if it cannot be read.
    pub(super) fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.path(path)).ok().map(|text| text.trim().to_string())
    }

    pub(super) fn bytes(&self, path: &str, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        std::fs::File::open(self.path(path)).ok()?.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// Names in a folder, those that are numbers first in their order; none if it is not there.
    pub(super) fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.path(folder)) else { return Vec::new() };
        let name = |e: std::io::Result<std::fs::DirEntry>| e.ok()?.file_name().into_string().ok();
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort_by_key(|n| (n.parse::<u64>().unwrap_or(u64::MAX), n.clone()));
        names
    }

    /// A file about the physics core.
    pub(super) fn of_core(&self, file: &str) -> String {
        format!("/sys/devices/system/cpu/cpu{}/{file}", self.core)
    }

    /// The value of `name=value` on the kernel's command line.
    pub(super) fn boot_parameter(&self, name: &str) -> Option<String> {
        let line = self.read("/proc/cmdline")?;
        let value = |word: &str| Some(word.strip_prefix(name)?.strip_prefix('=')?.to_string());
        line.split_whitespace().rev().find_map(value)
    }

    /// What the kernel was built with: `y`, `n` if it is off, `None` if that cannot be read.
    pub(super) fn kernel_config(&self, option: &str) -> Option<String> {
        let text = self.config_text()?;
        let value = |line: &str| Some(line.strip_prefix(option)?.strip_prefix('=')?.to_string());
        Some(text.lines().find_map(value).unwrap_or_else(|| "n".into()))
    }

    fn config_text(&self) -> Option<String> {
        if let Ok(file) = std::fs::File::open(self.path("/proc/config.gz")) {
            let mut text = String::new();
            // a megabyte at most comes out of the real one
            GzDecoder::new(file).take(8 << 20).read_to_string(&mut text).ok()?;
            return Some(text);
        }
        let release = self.read("/proc/sys/kernel/osrelease")?;
        self.read(&format!("/boot/config-{release}"))
    }

    /// CPUs that are on.
    pub(super) fn online(&self) -> Option<Vec<usize>> {
        let list = self.read("/sys/devices/system/cpu/online")?;
        Some((0..CPUS_MAX).filter(|&cpu| names_cpu(&list, cpu)).collect())
    }

    /// The cores that there are, as a list like `0-2,5`, if the physics core is none of them.
    #[must_use]
    pub fn cores_instead(&self) -> Option<String> {
        let list = self.read("/sys/devices/system/cpu/online")?;
        (!names_cpu(&list, self.core)).then_some(list)
    }

    /// All CPUs that are on but the physics core, as a list like `0-2,5`.
    pub(super) fn other_cpus(&self) -> String {
        let online = self.online().unwrap_or_default();
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for cpu in online.into_iter().filter(|&cpu| cpu != self.core) {
            match ranges.last_mut() {
                Some(range) if range.1 + 1 == cpu => range.1 = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        let text = |(a, b): &(usize, usize)| {
            if a == b { a.to_string() } else { format!("{a}-{b}") }
        };
        ranges.iter().map(text).collect::<Vec<_>>().join(",")
    }
}

/// True if a list like `0,2-4` names this CPU. `all` names each; `N` is the last one.
pub(super) fn names_cpu(list: &str, cpu: usize) -> bool {
    let number = |s: &str| match s.trim() {
        "N" => Some(usize::MAX),
        s => s.parse::<usize>().ok(),
    };
    let part_names_it = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        number(first).zip(number(last)).is_some_and(|(a, b)| (a..=b).contains(&cpu))
    };
    list.trim() == "all" || list.split(',').any(part_names_it)
}
