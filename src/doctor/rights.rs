//! Checks of the rights of this process, and of other programs on the machine.

use super::finding::Finding;
use super::machine::LOAD_FILE;
use super::machine::{Machine, names_cpu};

const CAP_IPC_LOCK: u32 = 14;
const CAP_SYS_NICE: u32 = 23;
/// Flag of a kernel thread in field 9 of `stat`.
const KERNEL_THREAD: u64 = 0x0020_0000;

const SETCAP: &str = "sudo setcap cap_sys_nice,cap_ipc_lock+ep $(command -v hardstand)";

/// May it have its `SCHED_FIFO` priority?
pub(super) fn priority(m: &Machine) -> Finding {
    const ID: &str = "rt_priority";
    if has_capability(m, CAP_SYS_NICE) == Some(true) {
        return Finding::ok(ID, "CAP_SYS_NICE: any priority");
    }
    let wish = u64::from(m.priority);
    match soft_limit(m, "Max realtime priority") {
        None => Finding::unknown(ID, "/proc/self/limits"),
        Some(limit) if limit >= wish => Finding::ok(ID, format!("the limit allows FIFO {wish}")),
        Some(limit) => {
            Finding::bad(ID, format!("SCHED_FIFO {wish} is refused: the limit is {limit}"))
                .now(SETCAP)
                .for_good(limits_line("rtprio", &wish.to_string()))
        }
    }
}

/// May it lock its memory?
pub(super) fn locked_memory(m: &Machine) -> Finding {
    const ID: &str = "locked_memory";
    if has_capability(m, CAP_IPC_LOCK) == Some(true) {
        return Finding::ok(ID, "CAP_IPC_LOCK: all memory");
    }
    match soft_limit(m, "Max locked memory") {
        None => Finding::unknown(ID, "/proc/self/limits"),
        Some(u64::MAX) => Finding::ok(ID, "the limit allows all memory"),
        Some(bytes) => {
            let kib = bytes / 1024;
            Finding::bad(ID, format!("locking memory is refused: the limit is {kib} KiB"))
                .now(SETCAP)
                .for_good(limits_line("memlock", "unlimited"))
        }
    }
}

fn limits_line(item: &str, value: &str) -> String {
    let file = format!("/etc/security/limits.d/90-hardstand-{item}.conf");
    format!("echo \"$USER - {item} {value}\" | sudo tee {file}   # then log in again")
}

fn has_capability(m: &Machine, bit: u32) -> Option<bool> {
    let status = m.read("/proc/self/status")?;
    let hex = status.lines().find_map(|l| l.strip_prefix("CapEff:"))?;
    let bits = u64::from_str_radix(hex.trim(), 16).ok()?;
    Some(bits >> bit & 1 == 1)
}

/// The soft limit of that name; `u64::MAX` for "unlimited".
fn soft_limit(m: &Machine, name: &str) -> Option<u64> {
    let limits = m.read("/proc/self/limits")?;
    let soft = limits.lines().find_map(|l| l.strip_prefix(name))?.split_whitespace().next()?;
    if soft == "unlimited" { Some(u64::MAX) } else { soft.parse().ok() }
}

/// What the kernel can take from a daemon that has started. Tries it on a thread of its own.
#[must_use]
pub fn sandbox() -> Finding {
    const ID: &str = "sandbox";
    let applied = hardstand_sandbox::probe();
    if applied.not_applied.is_empty() {
        return Finding::ok(ID, applied.summary());
    }
    let missing = applied.not_applied.join("; ");
    let finding =
        Finding::advice(ID, format!("a daemon keeps more rights than it needs: {missing}"));
    finding.for_good("update the kernel, with Landlock in its `lsm=` (docs/security.md)")
}

/// One core for physics, one for everything else.
pub(super) fn cpus(m: &Machine) -> Finding {
    const ID: &str = "cpus";
    const FILE: &str = "/sys/devices/system/cpu/online";
    let Some(online) = m.online() else { return Finding::unknown(ID, FILE) };
    let status = m.read("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"));
    let others = online.iter().filter(|&&cpu| cpu != m.core);
    let usable = others.filter(|&&cpu| mask.is_none_or(|list| names_cpu(list, cpu))).count();
    if usable > 0 {
        return Finding::ok(ID, format!("{} CPUs are on", online.len()));
    }
    let finding = Finding::bad(ID, "physics and all other threads share one CPU");
    if online.len() > 1 {
        finding.now(format!("taskset -c {} hardstand doctor", m.read(FILE).unwrap_or_default()))
    } else {
        finding.for_good("give the machine a second core")
    }
}

/// A hypervisor takes the CPU away without a word.
pub(super) fn virtual_machine(m: &Machine) -> Finding {
    const ID: &str = "virtual_machine";
    const FILE: &str = "/proc/cpuinfo";
    let Some(text) = m.read(FILE) else { return Finding::unknown(ID, FILE) };
    let flag = |l: &str| l.starts_with("flags") && l.split_whitespace().any(|f| f == "hypervisor");
    if text.lines().any(flag) || m.exists("/sys/hypervisor/type") {
        let found = "this is a virtual machine: what the host does to it cannot be mended here";
        return Finding::advice(ID, found).for_good("run hardstand on the machine itself");
    }
    Finding::ok(ID, "no sign of a virtual machine")
}

/// How busy the machine is.
pub(super) fn load(m: &Machine) -> Finding {
    const ID: &str = "load";
    let Some((load, cpus)) = m.load() else { return Finding::unknown(ID, LOAD_FILE) };
    if load <= cpus as f64 {
        return Finding::ok(ID, format!("load {load} on {cpus} CPUs"));
    }
    Finding::advice(ID, format!("load {load} on {cpus} CPUs: fine only if it is meant to be there"))
        .now("ps -eo pid,psr,cls,rtprio,pcpu,comm --sort=-pcpu | head")
}

/// Threads that the physics thread has to wait for.
pub(super) fn other_realtime_threads(m: &Machine) -> Finding {
    const ID: &str = "realtime_threads";
    let processes: Vec<String> =
        m.names("/proc").into_iter().filter(|n| n.parse::<u32>().is_ok()).collect();
    if processes.is_empty() {
        return Finding::unknown(ID, "/proc");
    }
    let mut rivals = Vec::new();
    for process in &processes {
        let tasks = format!("/proc/{process}/task");
        let rival = |task: &String| rival(m, &format!("{tasks}/{task}"), task);
        rivals.extend(m.names(&tasks).iter().filter_map(rival));
    }
    let Some((task, name)) = rivals.first() else {
        return Finding::ok(ID, format!("no other thread of priority {} or more", m.priority));
    };
    let found = format!(
        "{} real-time threads of priority {} or more may run on core {}, as {name} ({task})",
        rivals.len(),
        m.priority,
        m.core
    );
    let others = m.other_cpus();
    let command = |(task, _): &(String, String)| format!("sudo taskset -cp {others} {task}");
    Finding::advice(ID, found).now(rivals.iter().map(command).collect::<Vec<_>>().join("; "))
}

/// Number and name of the thread if it is a rival: not of the kernel, real-time, at least as
/// important, allowed on the core.
fn rival(m: &Machine, folder: &str, task: &str) -> Option<(String, String)> {
    let stat = m.read(&format!("{folder}/stat"))?;
    let (head, rest) = stat.rsplit_once(')')?;
    // proc(5) counts from 1, and two fields are gone
    let field = |n: usize| rest.split_whitespace().nth(n - 3)?.parse::<u64>().ok();
    let (flags, priority, policy) = (field(9)?, field(40)?, field(41)?);
    let realtime = matches!(policy, 1 | 2) && priority >= u64::from(m.priority);
    if !realtime || flags & KERNEL_THREAD != 0 {
        return None;
    }
    let status = m.read(&format!("{folder}/status"))?;
    let cpus = status.lines().find_map(|l| l.strip_prefix("Cpus_allowed_list:"))?;
    let name = head.split_once('(')?.1.to_string();
    names_cpu(cpus, m.core).then(|| (task.to_string(), name))
}
