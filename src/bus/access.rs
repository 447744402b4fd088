//! Access control of the daemon: users, certificates, roles and the access list.

use std::path::Path;

use hardstand_client::TlsFiles;
use hardstand_client::secrets::path_text;
use hardstand_client::session::{Settings, tls_settings};
use hardstand_error::{Error, ErrorKind, Result};

use crate::config::Access;

use super::users::read_users;
use super::{Keys, Order};

/// zenoh's keys for the daemon's certificate and private key.
const TLS_LISTEN: [&str; 2] =
    ["transport/link/tls/listen_certificate", "transport/link/tls/listen_private_key"];

/// Settings of a daemon that serves `keys`.
///
/// # Errors
/// [`ErrorKind::File`] or [`ErrorKind::Input`] if a file is refused; [`ErrorKind::Input`] if a user
/// has no role, or a role names no user.
pub(super) fn daemon_settings(access: &Access, keys: &Keys, ros2_domain: u32) -> Result<Settings> {
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
fn access_control(access: &Access, keys: &Keys, ros2_domain: u32) -> String {
    let rule = |id: &str, flow: &str, messages: &str, keys: &[&String]| {
        format!(
            "{{id: {id:?}, permission: \"allow\", flows: [{flow:?}], messages: {messages}, \
             key_exprs: {keys:?}}}"
        )
    };
    let ros2 = ros2_keys(ros2_domain);
    let ros2: Vec<&String> = ros2.iter().collect();
    let all = format!("{}/**", keys.root);
    let joining = Order::OF_CONTROLLERS.map(|order| &keys.orders[order as usize]);
    let old_clear = keys.clear_before_v5();
    let changing: Vec<&String> = keys.orders.iter().chain([&old_clear]).collect();
    let rules = [
        rule(
            "watch",
            "ingress",
            "[\"declare_subscriber\"]",
            &[
                &keys.state,
                &keys.contacts,
                &keys.bodies,
                &keys.drives,
                &keys.sensors,
                &keys.view,
                &keys.status,
                &keys.events,
            ],
        ),
        rule(
            "ask",
            "ingress",
            "[\"query\"]",
            &[&keys.model, &keys.urdf, &keys.ground, &keys.status, &keys.view],
        ),
        rule("command", "ingress", "[\"put\"]", &[&keys.cmd]),
        rule("steer", "ingress", "[\"put\"]", &[&keys.orders[Order::Velocity as usize]]),
        rule("change", "ingress", "[\"query\"]", &changing),
        rule("join", "ingress", "[\"query\"]", &joining),
        // what the daemon publishes; its queryables are handled above
        rule(
            "hear",
            "egress",
            "[\"put\", \"reply\", \"declare_subscriber\", \"declare_queryable\"]",
            &[&all],
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

/// Who has which role, and which rules a role has.
fn subjects_and_policies(access: &Access) -> (Vec<String>, Vec<String>) {
    let kind = if access.users_file.is_some() { "usernames" } else { "cert_common_names" };
    let roles = [
        (
            "controllers",
            &access.controllers,
            "[\"watch\", \"ask\", \"hear\", \"command\", \"join\", \"steer\"]",
        ),
        ("operators", &access.operators, "[\"watch\", \"ask\", \"hear\", \"change\", \"steer\"]"),
        ("viewers", &access.viewers, "[\"watch\", \"ask\", \"hear\"]"),
        ("ros2_nodes", &access.ros2_nodes, "[\"ros2_in\", \"ros2_out\"]"),
    ];
    let (mut subjects, mut policies) = (Vec::new(), Vec::new());
    for (role, names, rules) in roles.iter().filter(|(_, names, _)| !names.is_empty()) {
        subjects.push(format!("{{id: {role:?}, {kind}: {names:?}}}"));
        policies.push(format!("{{rules: {rules}, subjects: [{role:?}]}}"));
    }
    (subjects, policies)
}
