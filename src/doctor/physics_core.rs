//! Checks of the physics thread's core: what else runs there, and how it sleeps.

use super::finding::Finding;
use super::machine::{Machine, names_cpu};

/// An idle state with a longer way back than this is deep, µs.
const WAY_BACK_US_MAX: u64 = 10;
/// So many interrupts are named.
const NAMED_MAX: usize = 8;

/// Is the core kept free of other threads?
pub(super) fn isolation(m: &Machine) -> Finding {
    const ID: &str = "isolated_cpus";
    const FILE: &str = "/sys/devices/system/cpu/isolated";
    let Some(list) = m.read(FILE) else { return Finding::unknown(ID, FILE) };
    let core = m.core;
    if names_cpu(&list, core) {
        return Finding::ok(ID, format!("core {core} is isolated"));
    }
    let first: String = list.chars().take_while(char::is_ascii_digit).collect();
    if !first.is_empty() {
        let found = format!("core {list} is isolated, but the physics thread takes core {core}");
        return Finding::advice(ID, found)
            .now(format!("hardstand doctor --set realtime.core={first}"))
            .for_good(format!("write `core = {first}` under [realtime] of the scenario"));
    }
    Finding::advice(ID, format!("core {core} is not isolated: any thread may run there"))
        .by_boot_parameter(&format!("isolcpus=managed_irq,domain,{core}"))
}

/// Does the timer tick stop while one thread runs alone?
pub(super) fn timer_tick(m: &Machine) -> Finding {
    const ID: &str = "nohz_full";
    const FILE: &str = "/sys/devices/system/cpu/nohz_full";
    let (core, list) = (m.core, m.read(FILE));
    if list.as_deref().is_some_and(|list| names_cpu(list, core)) {
        return Finding::ok(ID, format!("core {core} runs without a timer tick"));
    }
    if m.kernel_config("CONFIG_NO_HZ_FULL").is_some_and(|v| v != "y") {
        let found = "the kernel is built without NO_HZ_FULL: the timer tick goes on";
        return Finding::advice(ID, found)
            .for_good("install a kernel that is built with CONFIG_NO_HZ_FULL=y");
    }
    if list.is_none() {
        return Finding::unknown(ID, FILE);
    }
    Finding::advice(ID, format!("the timer tick interrupts core {core}"))
        .by_boot_parameter(&format!("nohz_full={core}"))
}

/// Do call-backs of the kernel's RCU run elsewhere?
pub(super) fn rcu_callbacks(m: &Machine) -> Finding {
    const ID: &str = "rcu_nocbs";
    const FILE: &str = "/proc/cmdline";
    let core = m.core;
    if m.read(FILE).is_none() {
        return Finding::unknown(ID, FILE);
    }
    // nohz_full moves them as well
    let moved = ["rcu_nocbs", "nohz_full"]
        .iter()
        .any(|name| m.boot_parameter(name).is_some_and(|list| names_cpu(&list, core)));
    if moved {
        return Finding::ok(ID, format!("RCU call-backs of core {core} run elsewhere"));
    }
    Finding::advice(ID, format!("RCU call-backs run on core {core}"))
        .by_boot_parameter(&format!("rcu_nocbs={core}"))
}

/// Interrupts that go to the core.
pub(super) fn interrupts(m: &Machine) -> Finding {
    const ID: &str = "irq_affinity";
    const FOLDER: &str = "/proc/irq";
    let all: Vec<String> =
        m.names(FOLDER).into_iter().filter(|n| n.parse::<u32>().is_ok()).collect();
    if all.is_empty() {
        return Finding::unknown(ID, FOLDER);
    }
    let here = |irq: &&String| {
        let file = |name: &str| m.read(&format!("{FOLDER}/{irq}/{name}"));
        let in_force = file("effective_affinity_list").filter(|list| !list.is_empty());
        in_force.or_else(|| file("smp_affinity_list")).is_some_and(|l| names_cpu(&l, m.core))
    };
    let here: Vec<&str> = all.iter().filter(here).map(String::as_str).collect();
    if here.is_empty() {
        return Finding::ok(ID, format!("no interrupt goes to core {}", m.core));
    }
    let named = here[..here.len().min(NAMED_MAX)].join(", ");
    let more = if here.len() > NAMED_MAX { ", …" } else { "" };
    let found = format!("{} interrupts go to core {}: {named}{more}", here.len(), m.core);
    let others = m.other_cpus();
    if others.is_empty() {
        return Finding::advice(ID, found).for_good("give the machine a second core");
    }
    Finding::advice(ID, found)
        .now(format!(
            "for i in {}; do echo {others} | sudo tee /proc/irq/$i/smp_affinity_list; done",
            here.join(" ")
        ))
        .by_boot_parameter(&format!("irqaffinity={others}"))
}

/// A sibling that shares the core's units.
pub(super) fn siblings(m: &Machine) -> Finding {
    const ID: &str = "smt";
    const FILE: &str = "/sys/devices/system/cpu/smt/active";
    let Some(active) = m.read(FILE) else { return Finding::unknown(ID, FILE) };
    let siblings = m.read(&m.of_core("topology/thread_siblings_list")).unwrap_or_default();
    let online = m.online().unwrap_or_default();
    let other = online.into_iter().find(|&cpu| cpu != m.core && names_cpu(&siblings, cpu));
    match other.filter(|_| active == "1") {
        None => Finding::ok(ID, format!("core {} has no active sibling", m.core)),
        Some(cpu) => {
            Finding::advice(ID, format!("core {} shares its units with CPU {cpu} (SMT)", m.core))
                .now(format!("echo 0 | sudo tee /sys/devices/system/cpu/cpu{cpu}/online"))
                .by_boot_parameter("nosmt")
        }
    }
}

/// Does the frequency follow the load?
pub(super) fn governor(m: &Machine) -> Finding {
    const ID: &str = "governor";
    let file = m.of_core("cpufreq/scaling_governor");
    match m.read(&file) {
        None => Finding::unknown(ID, &file),
        Some(name) if name == "performance" => Finding::ok(ID, "the governor is \"performance\""),
        Some(name) => {
            Finding::advice(ID, format!("the governor is \"{name}\": a core that waits gets slow"))
                .now(format!("echo performance | sudo tee {file}"))
                .by_boot_parameter("cpufreq.default_governor=performance")
        }
    }
}

/// Idle states with a long way back.
pub(super) fn idle_states(m: &Machine) -> Finding {
    const ID: &str = "idle_states";
    let folder = m.of_core("cpuidle");
    let states = m.names(&folder);
    if states.is_empty() {
        return Finding::unknown(ID, &folder);
    }
    if let Some(us) = latency_limit_us(m).filter(|us| *us <= WAY_BACK_US_MAX) {
        return Finding::ok(ID, format!("/dev/cpu_dma_latency keeps out states beyond {us} µs"));
    }
    let number =
        |state: &str, name: &str| m.read(&format!("{folder}/{state}/{name}"))?.parse::<u64>().ok();
    let way_back_us = |state: &str| number(state, "latency").unwrap_or(0);
    let deep: Vec<&str> = states
        .iter()
        .filter_map(|name| name.strip_prefix("state").map(|n| (name, n)))
        .filter(|(name, _)| way_back_us(name) > WAY_BACK_US_MAX)
        .filter(|(name, _)| number(name, "disable").unwrap_or(0) == 0)
        .map(|(_, n)| n)
        .collect();
    if deep.is_empty() {
        return Finding::ok(ID, format!("no idle state's way back exceeds {WAY_BACK_US_MAX} µs"));
    }
    let longest = states.iter().map(|s| way_back_us(s)).max().unwrap_or(0);
    let found = format!("core {} may sleep so deep that waking takes {longest} µs", m.core);
    Finding::advice(ID, found)
        .now(format!(
            "for s in {}; do echo 1 | sudo tee {folder}/state$s/disable; done",
            deep.join(" ")
        ))
        .by_boot_parameter("processor.max_cstate=1 intel_idle.max_cstate=0")
}

/// The longest way back that some program allows at present, µs.
fn latency_limit_us(m: &Machine) -> Option<u64> {
    let bytes = m.bytes("/dev/cpu_dma_latency", 4)?;
    let us = i32::from_ne_bytes(bytes.try_into().ok()?);
    u64::try_from(us).ok()
}
