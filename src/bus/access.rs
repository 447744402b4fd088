//! Access control of the daemon: users, certificates, roles and the access list.

use std::collections::BTreeMap;
use std::path::Path;

use hardstand_client::TlsFiles;
use hardstand_client::secrets::path_text;
use hardstand_client::session::{Settings, tls_settings};
use hardstand_error::{Error, ErrorKind, Result};

use crate::config::Access;
use crate::limits::STOP_SESSIONS;

use super::users::read_users;
use super::{Keys, Order};

/// zenoh's keys for the daemon's certificate and private key.
const TLS_LISTEN: [&str; 2] =
    ["transport/link/tls/listen_certificate", "transport/link/tls/listen_private_key"];

/// Settings of a daemon that serves `keys`, those of each robot.
///
/// # Errors
/// [`ErrorKind::File`] or [`ErrorKind::Input`] if a file is refused; [`ErrorKind::Input`] if a user
/// has no role, or a role names no user.
pub(super) fn daemon_settings(
    access: &Access,
    keys: &[Keys],
    ros2_domain: u32,
) -> Result<Settings> {
    let mut settings = Settings::new();
    if let Some(file) = &access.users_file {
        check_roles(access, &read_users(file)?, file)?;
        settings.push(("transport/auth/usrpwd/dictionary_file", path_text(file)?));
    }
    if let Some(files) = &access.tls {
        let crate::config::TlsFiles { certificate, key, ca } = files.clone();
        tls_settings(&TlsFiles { certificate, key, ca }, TLS_LISTEN, &mut settings)?;
    }
    settings.push(("access_control", access_control(access, keys, ros2_domain)));
    settings.push(("metadata", extra_sessions(access)));
    Ok(settings)
}

/// A user without a role could connect and do nothing; a role without a user is a typing mistake.
fn check_roles(access: &Access, users: &[String], file: &Path) -> Result<()> {
    let file = file.display();
    let idle = users.iter().filter(|u| !access.names().any(|n| n == *u)).map(|u| {
        format!(
            "{u} is in {file}, but not in bus.controllers, bus.operators, bus.viewers or \
                 bus.ros2_nodes"
        )
    });
    let unknown = access.names().filter(|n| !users.contains(n));
    let unknown = unknown.map(|n| format!("{n} has a role, but no line in {file}"));
    let mistakes: Vec<String> = idle.chain(unknown).collect();
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(Error::list(ErrorKind::Input, "users and roles do not agree", &mistakes))
}

/// What nodes of `rmw_zenoh` exchange with the daemon, and through it with each other.
const ROS2_MESSAGES: &str = "[\"put\", \"delete\", \"declare_subscriber\", \"query\", \"reply\", \
    \"declare_queryable\", \"liveliness_token\", \"liveliness_query\", \
    \"declare_liveliness_subscriber\"]";

/// The keys of a domain: topics and services, their caches for late subscribers, and the tokens
/// that announce them.
fn ros2_keys(domain: u32) -> [String; 3] {
    [format!("{domain}/**"), format!("{domain}/**/@adv/**"), format!("@ros2_lv/{domain}/**")]
}

/// zenoh's access list: everything that it does not name is denied.
fn access_control(access: &Access, robots: &[Keys], ros2_domain: u32) -> String {
    let rule = |id: &str, flow: &str, messages: &str, keys: &[&String]| {
        format!(
            "{{id: {id:?}, permission: \"allow\", flows: [{flow:?}], messages: {messages}, \
             key_exprs: {keys:?}}}"
        )
    };
    let ros2 = ros2_keys(ros2_domain);
    let ros2: Vec<&String> = ros2.iter().collect();
    let all: Vec<String> = robots.iter().map(|keys| format!("{}/**", keys.root)).collect();
    let old_clear: Vec<String> = robots.iter().map(Keys::clear_before_v5).collect();
    let of_all = |some: fn(&Keys) -> Vec<&String>| robots.iter().flat_map(some).collect::<Vec<_>>();
    let watched = of_all(|k| {
        let states = [&k.state, &k.due_state, &k.contacts, &k.bodies, &k.drives, &k.sensors];
        states.into_iter().chain([&k.view, &k.status, &k.events]).collect()
    });
    let asked = of_all(|k| vec![&k.model, &k.urdf, &k.ground, &k.status, &k.view]);
    let joining = of_all(|k| Order::OF_CONTROLLERS.map(|order| &k.orders[order as usize]).into());
    let orders = of_all(|k| k.orders.iter().collect());
    let changing: Vec<&String> = orders.into_iter().chain(&old_clear).collect();
    let rules = [
        rule("watch", "ingress", "[\"declare_subscriber\"]", &watched),
        rule("ask", "ingress", "[\"query\"]", &asked),
        rule("command", "ingress", "[\"put\"]", &of_all(|k| vec![&k.cmd])),
        rule(
            "steer",
            "ingress",
            "[\"put\"]",
            &of_all(|k| vec![&k.orders[Order::Velocity as usize]]),
        ),
        rule("change", "ingress", "[\"query\"]", &changing),
        rule("join", "ingress", "[\"query\"]", &joining),
        // what the daemon publishes; its queryables are handled above
        rule(
            "hear",
            "egress",
            "[\"put\", \"reply\", \"declare_subscriber\", \"declare_queryable\"]",
            &all.iter().collect::<Vec<_>>(),
        ),
        rule("ros2_in", "ingress", ROS2_MESSAGES, &ros2),
        rule("ros2_out", "egress", ROS2_MESSAGES, &ros2),
    ];
    let (subjects, policies) = subjects_and_policies(access);
    let list = |items: &[String]| format!("[{}]", items.join(", "));
    format!(
        "{{enabled: true, default_permission: \"deny\", rules: {}, subjects: {}, policies: {}}}",
        list(&rules),
        list(&subjects),
        list(&policies)
    )
}

/// A role: who has it, and what it is good for.
struct Role<'a> {
    name: &'static str,
    users: &'a [String],
    rules: &'static str,
    /// Sessions up to which its users are let in beyond `bus.sessions_max`.
    extra_sessions: u64,
}

/// The table of rights.
fn roles(access: &Access) -> [Role<'_>; 4] {
    let role = |name, users, rules, extra_sessions| Role { name, users, rules, extra_sessions };
    let command = "[\"watch\", \"ask\", \"hear\", \"command\", \"join\", \"steer\"]";
    let operate = "[\"watch\", \"ask\", \"hear\", \"change\", \"steer\"]";
    [
        role("controllers", &access.controllers, command, STOP_SESSIONS),
        role("operators", &access.operators, operate, 2 * STOP_SESSIONS),
        role("viewers", &access.viewers, "[\"watch\", \"ask\", \"hear\"]", 0),
        role("ros2_nodes", &access.ros2_nodes, "[\"ros2_in\", \"ros2_out\"]", 0),
    ]
}

/// Who has which role, and which rules a role has.
fn subjects_and_policies(access: &Access) -> (Vec<String>, Vec<String>) {
    let kind = if access.users_file.is_some() { "usernames" } else { "cert_common_names" };
    let (mut subjects, mut policies) = (Vec::new(), Vec::new());
    for Role { name, users, rules, .. } in roles(access).iter().filter(|r| !r.users.is_empty()) {
        subjects.push(format!("{{id: {name:?}, {kind}: {users:?}}}"));
        policies.push(format!("{{rules: {rules}, subjects: [{name:?}]}}"));
    }
    (subjects, policies)
}

/// Who is let in although `bus.sessions_max` sessions are there: those who may stop the robot, so
/// that no number of other sessions keeps them from it. The copy of zenoh-transport reads this.
fn extra_sessions(access: &Access) -> String {
    let mut extra = BTreeMap::new();
    for role in roles(access).iter().filter(|r| r.extra_sessions > 0) {
        for user in role.users {
            let most = extra.entry(user).or_insert(0);
            *most = role.extra_sessions.max(*most);
        }
    }
    format!("{{extra_sessions: {extra:?}}}")
}
