//! Access control: credentials of both sides, and the access list.

use std::path::{Path, PathBuf};

use crate::config::{Access, TlsFiles, is_name};
use hardstand_error::{Error, ErrorKind, Result};

use super::secrets::{read_password, read_secret, read_users, unreadable};
use super::{Ask, Keys};

/// Credentials of a client. Secrets are in files, never in arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// User, and the file that holds only the password.
    pub user: Option<(String, PathBuf)>,
    /// Files for an endpoint `tls/…`.
    pub tls: Option<TlsFiles>,
}

/// Settings of zenoh: key and JSON5 value. Values may be secret.
pub(super) type Settings = Vec<(&'static str, String)>;

/// zenoh's keys for certificate and key.
const TLS_LISTEN: [&str; 2] =
    ["transport/link/tls/listen_certificate", "transport/link/tls/listen_private_key"];
const TLS_CONNECT: [&str; 2] =
    ["transport/link/tls/connect_certificate", "transport/link/tls/connect_private_key"];

/// Settings of a client.
///
/// # Errors
/// [`ErrorKind::File`] or [`ErrorKind::Input`] if a file is missing, or other users can access it.
pub(super) fn client_settings(credentials: &Credentials) -> Result<Settings> {
    let mut settings = Settings::new();
    if let Some((user, file)) = &credentials.user {
        if !is_name(user) {
            let text = "must be 1 to 64 letters, digits, \"-\", \"_\", \".\" or \"@\"";
            return Err(Error::new(ErrorKind::Input, format!("user {user:?} {text}")));
        }
        settings.push(("transport/auth/usrpwd/user", format!("{user:?}")));
        settings.push(("transport/auth/usrpwd/password", format!("{:?}", read_password(file)?)));
    }
    if let Some(files) = &credentials.tls {
        tls_settings(files, TLS_CONNECT, &mut settings)?;
    }
    Ok(settings)
}

/// Settings of a daemon that serves `keys`.
///
/// # Errors
/// As [`client_settings`]; [`ErrorKind::Input`] if a user has no role, or a role names no user.
pub(super) fn daemon_settings(access: &Access, keys: &Keys) -> Result<Settings> {
    let mut settings = Settings::new();
    if let Some(file) = &access.users_file {
        check_roles(access, &read_users(file)?, file)?;
        settings.push(("transport/auth/usrpwd/dictionary_file", path_text(file)?));
    }
    if let Some(files) = &access.tls {
        tls_settings(files, TLS_LISTEN, &mut settings)?;
    }
    settings.push(("access_control", access_control(access, keys)));
    Ok(settings)
}

fn tls_settings(files: &TlsFiles, keys: [&'static str; 2], out: &mut Settings) -> Result<()> {
    read_secret("TLS key", &files.key)?;
    for (file, what) in [(&files.certificate, "TLS certificate"), (&files.ca, "TLS authority")] {
        std::fs::File::open(file).map_err(|e| unreadable(what, file, &e))?;
    }
    out.push(("transport/link/tls/enable_mtls", "true".into()));
    out.push(("transport/link/tls/root_ca_certificate", path_text(&files.ca)?));
    out.push((keys[0], path_text(&files.certificate)?));
    out.push((keys[1], path_text(&files.key)?));
    Ok(())
}

fn path_text(path: &Path) -> Result<String> {
    match path.to_str().filter(|t| !t.chars().any(char::is_control)) {
        Some(text) => Ok(format!("{text:?}")),
        None => Err(Error::new(
            ErrorKind::Input,
            format!("{}: a path must be UTF-8 without control characters", path.display()),
        )),
    }
}

/// A user without a role could connect and do nothing; a role without a user is a typing mistake.
fn check_roles(access: &Access, users: &[String], file: &Path) -> Result<()> {
    let file = file.display();
    let idle = users.iter().filter(|u| !access.names().any(|n| n == *u)).map(|u| {
        format!("{u} is in {file}, but not in bus.controllers, bus.operators or bus.viewers")
    });
    let unknown = access.names().filter(|n| !users.contains(n));
    let unknown = unknown.map(|n| format!("{n} has a role, but no line in {file}"));
    let mistakes: Vec<String> = idle.chain(unknown).collect();
    if mistakes.is_empty() {
        return Ok(());
    }
    Err(Error::list(ErrorKind::Input, "users and roles do not agree", &mistakes))
}

/// zenoh's access list: everything that it does not name is denied.
fn access_control(access: &Access, keys: &Keys) -> String {
    let rule = |id: &str, flow: &str, messages: &str, keys: &[&String]| {
        format!(
            "{{id: {id:?}, permission: \"allow\", flows: [{flow:?}], messages: {messages}, \
             key_exprs: {keys:?}}}"
        )
    };
    let all = format!("{}/**", keys.root);
    let joining = Ask::OF_CONTROLLERS.map(|ask| &keys.orders[ask as usize]);
    let rules = [
        rule(
            "watch",
            "ingress",
            "[\"declare_subscriber\"]",
            &[&keys.state, &keys.contacts, &keys.status, &keys.events],
        ),
        rule("ask", "ingress", "[\"query\"]", &[&keys.model, &keys.urdf, &keys.status]),
        rule("command", "ingress", "[\"put\"]", &[&keys.cmd]),
        rule("change", "ingress", "[\"query\"]", &keys.orders.each_ref()),
        rule("join", "ingress", "[\"query\"]", &joining),
        // what the daemon publishes; its queryables are handled above
        rule(
            "hear",
            "egress",
            "[\"put\", \"reply\", \"declare_subscriber\", \"declare_queryable\"]",
            &[&all],
        ),
    ];
    let kind = if access.users_file.is_some() { "usernames" } else { "cert_common_names" };
    let roles = [
        (
            "controllers",
            &access.controllers,
            "[\"watch\", \"ask\", \"hear\", \"command\", \"join\"]",
        ),
        ("operators", &access.operators, "[\"watch\", \"ask\", \"hear\", \"change\"]"),
        ("viewers", &access.viewers, "[\"watch\", \"ask\", \"hear\"]"),
    ];
    let (mut subjects, mut policies) = (Vec::new(), Vec::new());
    for (role, names, rules) in roles.iter().filter(|(_, names, _)| !names.is_empty()) {
        subjects.push(format!("{{id: {role:?}, {kind}: {names:?}}}"));
        policies.push(format!("{{rules: {rules}, subjects: [{role:?}]}}"));
    }
    let list = |items: &[String]| format!("[{}]", items.join(", "));
    format!(
        "{{enabled: true, default_permission: \"deny\", rules: {}, subjects: {}, policies: {}}}",
        list(&rules),
        list(&subjects),
        list(&policies)
    )
}
