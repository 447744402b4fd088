//! What the daemon's process may still do after its start: what follows from the scenario.

use std::net::IpAddr;
use std::path::Path;

use hardstand_sandbox::{Allowed, Applied, confine_calls, confine_files, confine_physics_thread};

use crate::config::{BusPort, Mode, Ros2Mode, Sandbox, Scenario};
use crate::limits::FIRST_RUN_ID;
use crate::rt::Grants;
use hardstand_error::Result;

use super::kept::Kept;
use super::team::Member;

/// Whose process the daemon runs in.
#[derive(Clone, Debug)]
pub enum Host {
    /// A program that goes on to other things: nothing is confined.
    Shared,
    /// Likewise: one that goes on to other runs, between which clients stay connected.
    Worker(Kept),
    /// The process ends with the daemon, so it can be confined for good.
    Own {
        /// A process that was started before and will be ended, in a group of its own.
        child: Option<u32>,
    },
}

impl Host {
    /// What stays between runs, if there is to be more than one.
    pub(super) fn kept(&self) -> Option<Kept> {
        match self {
            Self::Worker(kept) => Some(kept.clone()),
            Self::Shared | Self::Own { .. } => None,
        }
    }

    /// Number of the first run.
    pub(super) fn first_run(&self) -> u32 {
        self.kept().map_or(FIRST_RUN_ID, |kept| kept.next_run())
    }
}

/// The sandbox of a run.
#[derive(Clone, Debug)]
pub(super) struct Confinement {
    allowed: Allowed,
    required: bool,
    /// The loop calls the system for nothing but its waits.
    loop_is_quiet: bool,
}

impl Confinement {
    /// Limits the files and ports of this thread and of those that it starts; `None` if nothing is
    /// to be confined.
    ///
    /// # Errors
    /// [`ErrorKind::RealTime`](crate::ErrorKind::RealTime) if it is required and not possible.
    pub(super) fn begin(
        scenario: &Scenario,
        log: Option<&Path>,
        (host, member): (&Host, Option<&Member>),
        grants: &mut Grants,
    ) -> Result<Option<Self>> {
        let Host::Own { child } = *host else { return Ok(None) };
        if scenario.sandbox == Sandbox::Off {
            return Ok(None);
        }
        let mut allowed = Allowed { children: child.into_iter().collect(), ..Allowed::default() };
        match member {
            None => allow(&mut allowed, scenario, log),
            // threads of the bus, which one robot starts, serve all
            Some(member) => {
                member.robots().iter().for_each(|(s, log)| allow(&mut allowed, s, log.as_deref()));
            }
        }
        let confinement = Self {
            allowed,
            required: scenario.sandbox == Sandbox::Required,
            // robots wake each other
            loop_is_quiet: scenario.control.mode == Mode::RealTime && member.is_none(),
        };
        let applied = confinement.enforced(confine_files(&confinement.allowed))?;
        grants.sandbox = Some(applied);
        Ok(Some(confinement))
    }

    /// Limits the system calls of all threads. Before the loop, which gets a filter of its own.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub(super) fn complete(&self) -> Result<Applied> {
        self.enforced(confine_calls(&self.allowed))
    }

    /// Limits the physics thread, which calls this. It was started before the others were limited.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub(super) fn confine_loop(&self) -> Result<Applied> {
        self.enforced(if self.loop_is_quiet {
            confine_physics_thread()
        } else {
            confine_files(&self.allowed)
        })
    }

    fn enforced(&self, applied: Applied) -> Result<Applied> {
        applied.enforce(self.required).map(|()| applied)
    }
}

/// Adds what a robot needs.
fn allow(allowed: &mut Allowed, scenario: &Scenario, log: Option<&Path>) {
    log.into_iter().for_each(|log| allowed.add_log(log));
    if let Some(access) = &scenario.bus.access {
        allowed.read.extend(access.users_file.clone());
        let tls = access.tls.iter().flat_map(|tls| [&tls.certificate, &tls.key, &tls.ca]);
        allowed.read.extend(tls.cloned());
    }
    for bus in &scenario.buses {
        if let BusPort::Pty(link) = &bus.port {
            allowed.add_link(link);
        }
    }
    allowed.udp |= scenario.ros2.mode == Ros2Mode::Dds;
    for endpoint in &scenario.bus.listen {
        add_endpoint(allowed, endpoint, true);
    }
    for endpoint in &scenario.bus.connect {
        add_endpoint(allowed, endpoint, false);
    }
}

fn add_endpoint(allowed: &mut Allowed, endpoint: &str, listens: bool) {
    let address = endpoint.split(['?', '#']).next().unwrap_or_default();
    let Some((protocol, address)) = address.split_once('/') else { return };
    if protocol == "unixsock-stream" {
        return allowed.add_unix_socket(Path::new(address));
    }
    let Some((host, port)) = address.rsplit_once(':') else { return };
    let ports = if listens { &mut allowed.bind_ports } else { &mut allowed.connect_ports };
    ports.extend(port.parse::<u16>());
    let host = host.trim_start_matches('[').trim_end_matches(']');
    allowed.host_names |= host.parse::<IpAddr>().is_err();
}

#[cfg(test)]
mod tests {
    use hardstand_sandbox::Allowed;

    use super::add_endpoint;

    fn of(endpoint: &str, listens: bool) -> Allowed {
        let mut allowed = Allowed::default();
        add_endpoint(&mut allowed, endpoint, listens);
        allowed
    }

    #[test]
    fn an_endpoint_allows_its_port_or_folder_and_names_only_where_there_is_one() {
        let port = |port| Allowed { bind_ports: vec![port], ..Default::default() };
        assert_eq!(of("tcp/127.0.0.1:7447", true), port(7447));
        assert_eq!(of("tls/[::1]:1#so_sndbuf=9", true), port(1));
        assert_eq!(of("tcp/localhost:7", true), Allowed { host_names: true, ..port(7) });
        let there = Allowed { connect_ports: vec![7448], ..Default::default() };
        assert_eq!(of("tcp/127.0.0.1:7448", false), there);
        let socket = Allowed { sockets: vec!["/run/robot".into()], ..Default::default() };
        assert_eq!(of("unixsock-stream//run/robot/bus", true), socket);
    }
}
