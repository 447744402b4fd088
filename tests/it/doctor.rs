//! The doctor: each check on made-up machines, the bands, and a real run.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output};

use hardstand::config::OverrunPolicy;
use hardstand::daemon::LatencyHistogram;
use hardstand::doctor::{Band, Finding, Level, Machine, Times, examine};
use hardstand::rt::{Clock, ManualClock, Pacer, Wait};
use hardstand_protocol::LATENCY_EDGES_NS;
use serde_json::Value;

/// A machine of four CPUs as it should be, with physics on core 3.
const GOOD: [(&str, &str); 34] = [
    ("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.12.9-1 (2025-01-10)"),
    ("proc/sys/kernel/osrelease", "6.12.9-rt-amd64"),
    ("sys/kernel/realtime", "1"),
    ("proc/sys/kernel/sched_rt_runtime_us", "-1"),
    ("proc/sys/kernel/sched_rt_period_us", "1000000"),
    ("sys/kernel/debug/sched/fair_server/cpu3/runtime", "0"),
    ("sys/devices/system/cpu/online", "0-3"),
    ("sys/devices/system/cpu/isolated", "3"),
    ("sys/devices/system/cpu/nohz_full", "3"),
    ("proc/cmdline", "root=/dev/sda1 isolcpus=managed_irq,domain,3 rcu_nocbs=3 quiet"),
    ("boot/config-6.12.9-rt-amd64", "CONFIG_PREEMPT_RT=y\nCONFIG_NO_HZ_FULL=y\n"),
    ("proc/irq/8/smp_affinity_list", "0-3"),
    ("proc/irq/8/effective_affinity_list", "0"),
    ("proc/irq/24/smp_affinity_list", "0-2"),
    ("proc/irq/default_smp_affinity", "7"),
    ("sys/devices/system/cpu/smt/active", "0"),
    ("sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3"),
    ("sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance"),
    ("sys/devices/system/cpu/cpu3/cpuidle/state0/latency", "0"),
    ("sys/devices/system/cpu/cpu3/cpuidle/state0/disable", "0"),
    ("sys/devices/system/cpu/cpu3/cpuidle/state1/latency", "2"),
    ("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0"),
    ("sys/devices/system/cpu/cpu3/cpuidle/state2/latency", "133"),
    ("sys/devices/system/cpu/cpu3/cpuidle/state2/disable", "1"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
    ("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority"),
    (
        "proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n\
         Max locked memory         unlimited            unlimited            bytes     \n\
         Max realtime priority     80                   80                             ",
    ),
    ("proc/self/status", "CapEff:\t0000000000000000\nCpus_allowed_list:\t0-3"),
    ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc msr constant_tsc"),
    ("proc/loadavg", "0.31 0.20 0.10 1/300 1234"),
    (
        "proc/41/task/41/stat",
        "41 (migration/3) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 -100 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 \
         0 0 0 17 3 99 1 0",
    ),
    ("proc/41/task/41/status", "Name:\tmigration/3\nCpus_allowed_list:\t3"),
];

struct Tree(tempfile::TempDir);

impl Tree {
    fn good() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in GOOD {
            tree.write(path, text.as_bytes());
        }
        tree
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let file = self.0.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    fn remove(&self, path: &str) {
        std::fs::remove_file(self.0.path().join(path)).unwrap();
    }

    fn findings(&self) -> Vec<Finding> {
        examine(&Machine::new(self.0.path(), 3, 80))
    }

    /// All findings that are not "ok".
    fn complaints(&self) -> Vec<Finding> {
        self.findings().into_iter().filter(|f| f.level != Level::Ok).collect()
    }
}

/// A good tree with some files changed: exactly one finding, of this kind.
fn broken(files: &[(&str, &str)]) -> Finding {
    let tree = Tree::good();
    for (path, text) in files {
        tree.write(path, text.as_bytes());
    }
    let mut complaints = tree.complaints();
    assert_eq!(complaints.len(), 1, "{files:?}: {complaints:#?}");
    complaints.remove(0)
}

fn assert_finding(f: &Finding, id: &str, level: Level, now: Option<&str>, for_good: Option<&str>) {
    assert_eq!((f.id, f.level), (id, level), "{f:#?}");
    assert_eq!(f.now.as_deref(), now, "{f:#?}");
    match for_good {
        Some(part) => assert!(f.for_good.as_ref().is_some_and(|c| c.contains(part)), "{f:#?}"),
        None => assert_eq!(f.for_good, None, "{f:#?}"),
    }
}

#[test]
fn a_good_machine_has_no_complaint() {
    assert_eq!(Tree::good().complaints(), []);
    assert_eq!(Tree::good().findings().len(), 19);
}

#[test]
fn nothing_readable_is_unknown_and_no_panic() {
    let empty = tempfile::tempdir().unwrap();
    for finding in examine(&Machine::new(empty.path(), 3, 80)) {
        assert_eq!(finding.level, Level::Unknown, "{finding:#?}");
    }
    // files with nonsense in them
    let tree = Tree::good();
    for (path, _) in GOOD {
        for nonsense in
            [b"".as_slice(), b"\xff\xfe\0", b"-1--,9-,,0-99999999999999999999", b") 1 ("]
        {
            tree.write(path, nonsense);
            assert_eq!(tree.findings().len(), 19);
        }
    }
}

#[test]
fn each_fault_of_the_kernel_has_its_command() {
    use Level::{Advice, Bad};
    const VERSION: &str = "proc/sys/kernel/version";
    const DYNAMIC: &str = "#1 SMP PREEMPT_DYNAMIC Debian";
    const REALTIME: &str = "sys/kernel/realtime";
    const MODE: &str = "sys/kernel/debug/sched/preempt";
    let install = Some("linux-image-rt-");
    let full = Some("echo full | sudo tee /sys/kernel/debug/sched/preempt");

    let f = broken(&[(VERSION, DYNAMIC), (REALTIME, "0"), (MODE, "none (voluntary) full lazy")]);
    assert_finding(&f, "preemption", Bad, full, install);
    assert!(f.found.contains("voluntary"), "{f:#?}");
    let f = broken(&[(VERSION, DYNAMIC), (REALTIME, "0"), (MODE, "none voluntary (full) lazy")]);
    assert_finding(&f, "preemption", Advice, None, install);
    let f = broken(&[(VERSION, "#1 SMP Debian"), (REALTIME, "0")]);
    assert_finding(&f, "preemption", Bad, None, install);

    const RUNTIME: &str = "proc/sys/kernel/sched_rt_runtime_us";
    let sysctl = Some("sudo sysctl -w kernel.sched_rt_runtime_us=-1");
    let kept = Some("/etc/sysctl.d/90-hardstand.conf");
    assert_finding(&broken(&[(RUNTIME, "950000")]), "rt_throttling", Advice, sysctl, kept);
    assert_finding(&broken(&[(RUNTIME, "100000")]), "rt_throttling", Bad, sysctl, kept);
    const FAIR: &str = "sys/kernel/debug/sched/fair_server/cpu3/runtime";
    let off = format!("echo 0 | sudo tee /{FAIR}");
    assert_finding(&broken(&[(FAIR, "50000000")]), "fair_server", Advice, Some(&off), None);

    const CLOCK: &str = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    const CLOCKS: &str = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let tsc = format!("echo tsc | sudo tee /{CLOCK}");
    let kept = Some("clocksource=tsc");
    assert_finding(&broken(&[(CLOCK, "hpet")]), "clock_source", Bad, Some(&tsc), kept);
    let f = broken(&[(CLOCK, "hpet"), (CLOCKS, "hpet acpi_pm")]);
    assert_finding(&f, "clock_source", Bad, None, kept);

    const PAGES: &str = "sys/kernel/mm/transparent_hugepage/enabled";
    let never = format!("echo never | sudo tee /{PAGES}");
    let kept = Some("transparent_hugepage=never");
    let f = broken(&[(PAGES, "[always] madvise never")]);
    assert_finding(&f, "huge_pages", Advice, Some(&never), kept);
    let f = broken(&[("proc/swaps", "Filename Type Size\n/dev/sda2 partition 8388604 0 -2")]);
    assert_finding(&f, "swap", Advice, Some("sudo swapoff -a"), Some("/etc/fstab"));
}

/// Without debugfs the build of the kernel tells how a PREEMPT_DYNAMIC one starts.
#[test]
fn the_kernels_configuration_is_read_plain_and_packed() {
    let tree = Tree::good();
    tree.write("proc/sys/kernel/version", b"#1 SMP PREEMPT_DYNAMIC");
    tree.remove("sys/kernel/realtime");
    let found = |tree: &Tree| tree.complaints().remove(0).found;
    assert!(found(&tree).contains("unknown"), "{}", found(&tree));
    tree.write("boot/config-6.12.9-rt-amd64", b"CONFIG_PREEMPT_LAZY=y\nCONFIG_NO_HZ_FULL=y\n");
    assert!(found(&tree).contains("lazy"), "{}", found(&tree));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(b"# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_NONE=y\n").unwrap();
    tree.write("proc/config.gz", &packed.finish().unwrap());
    assert!(found(&tree).contains("none"), "{}", found(&tree));
    // the command line goes before the build
    tree.write("proc/cmdline", b"preempt=full rcu_nocbs=3");
    assert!(found(&tree).contains("fully preemptible"), "{}", found(&tree));
}

#[test]
fn each_fault_of_the_core_has_its_command() {
    use Level::Advice;
    const ISOLATED: &str = "sys/devices/system/cpu/isolated";
    let kept = Some("isolcpus=managed_irq,domain,3 ");
    assert_finding(&broken(&[(ISOLATED, "")]), "isolated_cpus", Advice, None, kept);
    let f = broken(&[(ISOLATED, "1-2")]);
    let other = Some("hardstand doctor --set realtime.core=1");
    assert_finding(&f, "isolated_cpus", Advice, other, Some("core = 1"));

    const NOHZ: &str = "sys/devices/system/cpu/nohz_full";
    for list in ["(null)", "", "0-2"] {
        assert_finding(&broken(&[(NOHZ, list)]), "nohz_full", Advice, None, Some("nohz_full=3 "));
    }
    let f = broken(&[(NOHZ, ""), ("boot/config-6.12.9-rt-amd64", "CONFIG_PREEMPT_RT=y\n")]);
    assert_finding(&f, "nohz_full", Advice, None, Some("CONFIG_NO_HZ_FULL"));
    for line in ["quiet", "rcu_nocbs=0-2", "xrcu_nocbs=3"] {
        let f = broken(&[("proc/cmdline", line)]);
        assert_finding(&f, "rcu_nocbs", Advice, None, Some("rcu_nocbs=3 "));
    }
    for line in ["rcu_nocbs=all", "rcu_nocbs=2-N", "nohz_full=1,3"] {
        let tree = Tree::good();
        tree.write("proc/cmdline", line.as_bytes());
        assert_eq!(tree.complaints(), [], "{line}");
    }

    let move_24 = "for i in 24; do echo 0-2 | sudo tee /proc/irq/$i/smp_affinity_list; done";
    let kept = Some("irqaffinity=0-2 ");
    let f = broken(&[("proc/irq/24/smp_affinity_list", "0-3")]);
    assert_finding(&f, "irq_affinity", Advice, Some(move_24), kept);
    let f = broken(&[("proc/irq/8/effective_affinity_list", "3")]);
    assert_finding(&f, "irq_affinity", Advice, Some(&move_24.replace("24", "8")), kept);

    const SIBLINGS: &str = "sys/devices/system/cpu/cpu3/topology/thread_siblings_list";
    let f = broken(&[("sys/devices/system/cpu/smt/active", "1"), (SIBLINGS, "1,3")]);
    let off = Some("echo 0 | sudo tee /sys/devices/system/cpu/cpu1/online");
    assert_finding(&f, "smt", Advice, off, Some("nosmt"));
    const GOVERNOR: &str = "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor";
    let fast = format!("echo performance | sudo tee /{GOVERNOR}");
    let kept = Some("cpufreq.default_governor=performance");
    assert_finding(&broken(&[(GOVERNOR, "powersave")]), "governor", Advice, Some(&fast), kept);

    const DEEP: &str = "sys/devices/system/cpu/cpu3/cpuidle/state2/disable";
    let shut = "for s in 2; do echo 1 | sudo tee \
                /sys/devices/system/cpu/cpu3/cpuidle/state$s/disable; done";
    let f = broken(&[(DEEP, "0")]);
    assert_finding(&f, "idle_states", Advice, Some(shut), Some("processor.max_cstate=1"));
    let tree = Tree::good();
    tree.write(DEEP, b"0");
    tree.write("dev/cpu_dma_latency", &0_i32.to_ne_bytes());
    assert_eq!(tree.complaints(), [], "a program holds the latency down");
    tree.write("dev/cpu_dma_latency", &2_000_000_000_i32.to_ne_bytes());
    assert_eq!(tree.complaints().len(), 1);
}

#[test]
fn each_missing_right_has_its_command() {
    use Level::{Advice, Bad};
    const LIMITS: &str = "proc/self/limits";
    const STATUS: &str = "proc/self/status";
    let setcap = Some("sudo setcap cap_sys_nice,cap_ipc_lock+ep $(command -v hardstand)");
    let limits = |locked: &str, priority: &str| {
        format!("Max locked memory {locked} 8 bytes\nMax realtime priority {priority} 99")
    };
    let f = broken(&[(LIMITS, &limits("unlimited", "79"))]);
    assert_finding(&f, "rt_priority", Bad, setcap, Some("rtprio 80"));
    let f = broken(&[(LIMITS, &limits("8388608", "80"))]);
    assert_finding(&f, "locked_memory", Bad, setcap, Some("memlock unlimited"));
    assert!(f.found.contains("8192 KiB"), "{f:#?}");
    // a capability needs no limit
    for (bits, missing) in [(1_u64 << 23, "locked_memory"), (1 << 14, "rt_priority")] {
        let status = format!("CapEff:\t{bits:016x}\nCpus_allowed_list:\t0-3");
        assert_eq!(broken(&[(LIMITS, &limits("0", "0")), (STATUS, &status)]).id, missing);
    }

    let f = broken(&[(STATUS, "CapEff:\t0\nCpus_allowed_list:\t3")]);
    assert_finding(&f, "cpus", Bad, Some("taskset -c 0-3 hardstand doctor"), None);
    let f = broken(&[("proc/cpuinfo", "flags\t\t: fpu tsc hypervisor lahf_lm")]);
    assert_finding(&f, "virtual_machine", Advice, None, Some("machine itself"));
    let f = broken(&[("proc/loadavg", "4.01 2 1 1/300 1")]);
    let ps = Some("ps -eo pid,psr,cls,rtprio,pcpu,comm --sort=-pcpu | head");
    assert_finding(&f, "load", Advice, ps, None);

    let stat = |policy: u32, priority: u32| {
        format!(
            "77 (a (b) c) S 1 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 -90 0 1 0 9 0 0 0 0 0 0 0 0 0 0 0 0 \
             0 0 0 17 0 {priority} {policy} 0"
        )
    };
    const STAT: &str = "proc/77/task/77/stat";
    let status = ("proc/77/task/77/status", "Name:\ta (b) c\nCpus_allowed_list:\t0-3");
    let f = broken(&[(STAT, &stat(1, 80)), status]);
    let away = Some("sudo taskset -cp 0-2 77");
    assert_finding(&f, "realtime_threads", Advice, away, None);
    assert!(f.found.contains("a (b) c"), "{f:#?}");
    for (stat, cpus) in [(stat(1, 79), "0-3"), (stat(0, 0), "0-3"), (stat(2, 90), "0-2")] {
        let tree = Tree::good();
        tree.write(STAT, stat.as_bytes());
        tree.write(status.0, format!("Cpus_allowed_list:\t{cpus}").as_bytes());
        assert_eq!(tree.complaints(), [], "{stat} on {cpus}");
    }
}

/// Counts lie between the edges, the largest is exact, and no percentile is beyond it.
#[test]
fn a_tally_counts_from_each_edge_to_below_the_next() {
    let mut tally = LatencyHistogram::new(&LATENCY_EDGES_NS);
    for edge in LATENCY_EDGES_NS {
        for ns in [edge - 1, edge, edge + 1] {
            tally.record(ns);
        }
    }
    let mut expected = [3; 38];
    (expected[0], expected[37]) = (1, 2);
    let d = tally.distribution();
    assert_eq!(d.counts, expected);
    assert_eq!((d.count(), tally.count(), d.max), (111, 111, 1_000_000_001));
    assert!(d.p99_99 <= d.max && d.p50 >= 1_000_000, "{d:?}");
    assert_eq!(tally.count_between(0, 999), 1);
    tally.record(100_000_000_000); // more than a minute
    assert_eq!(tally.max(), 100_000_000_000);
    tally.reset();
    assert_eq!(tally.distribution().counts, [0; 38]);
    assert_eq!((tally.count(), tally.max(), tally.quantile(0.5)), (0, 0, 0));
}

const PERIOD_NS: u64 = 1_000_000;

/// The loop's own grid on a clock whose sleeps end late by what `late_ns` says.
fn times(ticks: u64, late_ns: impl Fn(u64) -> u64) -> Times {
    busy_times(ticks, |_| 15_000, late_ns)
}

/// The same with ticks of this cost.
fn busy_times(ticks: u64, cost_ns: impl Fn(u64) -> u64, late_ns: impl Fn(u64) -> u64) -> Times {
    let clock = ManualClock::default();
    let mut pacer = Pacer::new(clock.now_ns(), PERIOD_NS, OverrunPolicy::Slip);
    let mut wakeup = LatencyHistogram::new(&LATENCY_EDGES_NS);
    for tick in 0..ticks {
        clock.advance(cost_ns(tick));
        let Wait::Until(deadline) = pacer.after_tick(clock.now_ns()) else { panic!("slip waits") };
        clock.sleep_until(deadline);
        clock.advance(late_ns(tick));
        wakeup.record(clock.now_ns() - deadline);
    }
    Times {
        period_ns: PERIOD_NS,
        ticks,
        wakeup_p99_9_ns: wakeup.quantile(0.999),
        wakeup_max_ns: wakeup.max(),
        missed_deadlines: pacer.missed(),
    }
}

#[test]
fn each_lateness_has_its_band() {
    let once = |ns: u64| move |tick: u64| if tick == 500 { ns } else { 3000 };
    assert_eq!(times(20_000, once(19_999)).band(), Band::Excellent);
    assert_eq!(times(20_000, once(20_000)).band(), Band::Good);
    assert_eq!(times(20_000, once(50_000)).band(), Band::Fair);
    assert_eq!(times(20_000, once(100_000)).band(), Band::Soft);
    let stalled = times(20_000, once(15_000_000));
    assert_eq!((stalled.band(), stalled.missed_deadlines), (Band::Soft, 15));
    let stalled = times(20_000, once(25_000_000));
    assert_eq!((stalled.band(), stalled.missed_deadlines), (Band::NotForRealTime, 25));
    // a tick that takes too long is no late wake-up, but a missed deadline
    let slow = |tick| if tick == 500 { 1_200_000 } else { 15_000 };
    let overran = busy_times(20_000, slow, |_| 3000);
    assert_eq!((overran.band(), overran.missed_deadlines), (Band::Soft, 1));
}

/// The doctor's own negative test: sleeps that are late get the worst band.
#[test]
fn late_sleeps_are_not_for_real_time() {
    let often = times(10_000, |tick| if tick % 100 == 0 { 600_000 } else { 3000 });
    assert_eq!((often.band(), often.missed_deadlines), (Band::NotForRealTime, 0));
    assert_eq!(times(10_000, |_| 2_000_000).band(), Band::NotForRealTime);
    assert_eq!(times(0, |_| 0).band(), Band::NotForRealTime, "nothing was measured");
    assert!(!Band::NotForRealTime.is_usable() && Band::Soft.is_usable());
}

fn doctor(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    command.arg("doctor").args(args).current_dir(folder).output().unwrap()
}

fn counted(d: &Value) -> u64 {
    d["counts"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum()
}

/// From a folder without any of our files, with the robot that is built in.
#[test]
fn a_real_run_counts_every_tick() {
    let folder = tempfile::tempdir().unwrap();
    let out = doctor(folder.path(), &["--seconds", "2", "--json", "--plot", "latency.svg"]);
    let code = out.status.code().unwrap();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(code == 0 || code == 1, "{code}: {errors}");
    let report: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(report["findings"].as_array().unwrap().len(), 20);
    let run = &report["run"];
    assert_eq!((&run["ticks"], &run["robot"]), (&2000.into(), &"quadruped".into()));
    let told = 2000 - run["reports_dropped"].as_u64().unwrap();
    for name in ["wakeup_latency_ns", "tick_cost_ns"] {
        let d = &run[name];
        assert_eq!(counted(d), told, "{name}: {d:#}");
        let all = ["p50", "p99", "p99_9", "p99_99", "max"].map(|q| d[q].as_u64().unwrap());
        assert!(all.is_sorted() && all[4] > 0, "{all:?}");
    }
    let verdict = &report["verdict"];
    assert_eq!(verdict["usable"].as_bool().unwrap(), code == 0, "{verdict:#}");
    let bands = ["excellent", "good", "fair", "soft", "not_for_real_time"];
    assert!(bands.contains(&verdict["band"].as_str().unwrap()), "{verdict:#}");

    let plot = std::fs::read_to_string(folder.path().join("latency.svg")).unwrap();
    for part in ["<svg", "</svg>", "wake-up latency", "tick cost", "period"] {
        assert!(plot.contains(part), "{part} is not in the plot");
    }
}

#[test]
fn the_text_shows_commands_histogram_and_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let out = doctor(folder.path(), &["--seconds", "1"]);
    let text = String::from_utf8(out.stdout).unwrap();
    let verdict = text.lines().find_map(|l| l.strip_prefix("verdict    ")).unwrap();
    let bad = verdict.starts_with("not for real time");
    assert_eq!(out.status.code(), Some(i32::from(bad)), "{text}");
    for part in ["preemption", "isolated_cpus", "wake-up ", "tick cost ", "|#", "ticks      1000"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_before_the_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str], why: &str| {
        let out = doctor(folder.path(), args);
        let text = String::from_utf8_lossy(&out.stderr).to_string();
        assert_eq!(out.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(why), "{args:?}: {text}");
        assert!(out.stdout.is_empty(), "{args:?}");
    };
    for seconds in ["0", "-1", "0.5", "1e9", "nan", "inf", "soon"] {
        refused(&["--seconds", seconds], "--seconds");
    }
    refused(&["--seconds", "0"], "it must be 1 to 604800");
    refused(&["--plot", "latency.pdf"], ".svg or .png");
    refused(&["--plot", "no/such/folder/latency.svg"], "no/such/folder/latency.svg");
    refused(&["--set", "sim.rate_hz=0"], "sim.rate_hz");
    refused(&["--set", "realtime.core=999"], "realtime.core is 999, and this machine has no such");
    refused(&["--set", "sim.rate_hz=1000", "nowhere.toml"], "nowhere.toml");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}
