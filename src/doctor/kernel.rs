//! Checks of the kernel and its settings.

use super::finding::Finding;
use super::machine::Machine;

/// Below this share of real-time work in a period a loop with little to do is throttled, too.
const THROTTLE_SHARE_MIN: f64 = 0.5;

/// How the kernel may be pre-empted.
pub(super) fn preemption(m: &Machine) -> Finding {
    const ID: &str = "preemption";
    let version = m.read("/proc/sys/kernel/version").or_else(|| m.read("/proc/version"));
    let realtime = m.read("/sys/kernel/realtime").is_some_and(|text| text == "1");
    let Some(version) = version else { return Finding::unknown(ID, "/proc/sys/kernel/version") };
    if realtime || version.contains("PREEMPT_RT") || version.contains("PREEMPT RT") {
        return Finding::ok(ID, "the kernel is PREEMPT_RT");
    }
    let architecture = if std::env::consts::ARCH == "aarch64" { "arm64" } else { "amd64" };
    let install = format!("sudo apt-get install linux-image-rt-{architecture} && sudo reboot");
    let dynamic = version.contains("PREEMPT_DYNAMIC");
    match preempt_mode(m, dynamic, &version) {
        Some(mode) if mode == "full" => {
            Finding::advice(ID, "the kernel is fully preemptible, but not PREEMPT_RT")
                .for_good(install)
        }
        mode => {
            let mode = mode.unwrap_or_else(|| "unknown".into());
            let found = format!("the kernel is not PREEMPT_RT, and its preemption is \"{mode}\"");
            let finding = Finding::bad(ID, found).for_good(install);
            if dynamic {
                finding.now("echo full | sudo tee /sys/kernel/debug/sched/preempt")
            } else {
                finding
            }
        }
    }
}

fn preempt_mode(m: &Machine, dynamic: bool, version: &str) -> Option<String> {
    if !dynamic {
        return Some(if version.contains("PREEMPT") { "full" } else { "none" }.into());
    }
    // `none voluntary (full)`: the one in brackets is in force
    let live = m.read("/sys/kernel/debug/sched/preempt");
    let live = live.as_deref().and_then(|t| t.split_once('(')?.1.split_once(')'));
    let built = || {
        let is = |option: &str| m.kernel_config(option).is_some_and(|v| v == "y");
        let modes = [
            ("CONFIG_PREEMPT", "full"),
            ("CONFIG_PREEMPT_LAZY", "lazy"),
            ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
            ("CONFIG_PREEMPT_NONE", "none"),
        ];
        modes.iter().find(|(option, _)| is(option)).map(|(_, mode)| (*mode).to_string())
    };
    live.map(|(mode, _)| mode.to_string()).or_else(|| m.boot_parameter("preempt")).or_else(built)
}

/// Real-time throttling: a share of each period that real-time threads may not have.
pub(super) fn throttling(m: &Machine) -> Finding {
    const ID: &str = "rt_throttling";
    const FILE: &str = "/proc/sys/kernel/sched_rt_runtime_us";
    let number = |path: &str| m.read(path)?.parse::<i64>().ok();
    let (Some(runtime), Some(period)) =
        (number(FILE), number("/proc/sys/kernel/sched_rt_period_us"))
    else {
        return Finding::unknown(ID, FILE);
    };
    if runtime < 0 || runtime >= period {
        return Finding::ok(ID, "real-time threads are not throttled");
    }
    let share = runtime as f64 / period as f64;
    let found = format!("real-time threads are stopped beyond {runtime} of {period} µs");
    let finding = if share < THROTTLE_SHARE_MIN {
        Finding::bad(ID, found)
    } else {
        Finding::advice(ID, found)
    };
    finding
        .now("sudo sysctl -w kernel.sched_rt_runtime_us=-1")
        .for_good("echo kernel.sched_rt_runtime_us=-1 | sudo tee /etc/sysctl.d/90-hardstand.conf")
}

/// The fair server of Linux 6.12 and later: a share of the core for starved normal threads.
pub(super) fn fair_server(m: &Machine) -> Finding {
    const ID: &str = "fair_server";
    let file = format!("/sys/kernel/debug/sched/fair_server/cpu{}/runtime", m.core);
    match m.read(&file).and_then(|text| text.parse::<u64>().ok()) {
        None => Finding::unknown(ID, &file),
        Some(0) => Finding::ok(ID, "it takes nothing from real-time threads"),
        Some(ns) => {
            let found = format!("starved normal threads get {ns} ns of the core in each period");
            Finding::advice(ID, found).now(format!("echo 0 | sudo tee {file}"))
        }
    }
}

/// The clock that is read each tick.
pub(super) fn clock_source(m: &Machine) -> Finding {
    const ID: &str = "clock_source";
    const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
    const READ_WITHOUT_SYSTEM_CALL: [&str; 5] = [
        "tsc",
        "arch_sys_counter",
        "riscv_clocksource",
        "kvm-clock",
        "hyperv_clocksource_tsc_page",
    ];
    let file = format!("{FOLDER}/current_clocksource");
    let Some(current) = m.read(&file) else { return Finding::unknown(ID, &file) };
    if READ_WITHOUT_SYSTEM_CALL.contains(&current.as_str()) {
        return Finding::ok(ID, format!("the clock source is {current}"));
    }
    let found = format!("the clock source is {current}: each look at the clock is a system call");
    let there = m.read(&format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let finding = Finding::bad(ID, found).by_boot_parameter("clocksource=tsc tsc=reliable");
    if there.split_whitespace().any(|name| name == "tsc") {
        finding.now(format!("echo tsc | sudo tee {file}"))
    } else {
        finding
    }
}

/// Transparent huge pages: the kernel stops threads while it joins pages.
pub(super) fn huge_pages(m: &Machine) -> Finding {
    const ID: &str = "huge_pages";
    const FILE: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    match m.read(FILE) {
        None => Finding::unknown(ID, FILE),
        Some(text) if text.contains("[always]") => Finding::advice(
            ID,
            "transparent huge pages are \"always\": pages are joined behind one's back",
        )
        .now(format!("echo never | sudo tee {FILE}"))
        .by_boot_parameter("transparent_hugepage=never"),
        Some(_) => Finding::ok(ID, "transparent huge pages only where a program asks for them"),
    }
}

/// Swap.
pub(super) fn swap(m: &Machine) -> Finding {
    const ID: &str = "swap";
    const FILE: &str = "/proc/swaps";
    let Some(text) = m.read(FILE) else { return Finding::unknown(ID, FILE) };
    let areas = text.lines().skip(1).count();
    if areas == 0 {
        return Finding::ok(ID, "there is no swap");
    }
    Finding::advice(ID, format!("swap areas: {areas}; memory that is not locked may go there"))
        .now("sudo swapoff -a")
        .for_good("sudo sed -i '/\\sswap\\s/s/^/#/' /etc/fstab")
}
