//! The daemon's file of users.

use std::path::Path;

use hardstand_client::secrets::{PASSWORD, is_password, read_secret};
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::is_user_name;

/// The users of a file of `user:password` lines.
///
/// # Errors
/// As [`read_secret`]; [`ErrorKind::Input`] with the number of the first invalid line.
pub(super) fn read_users(path: &Path) -> Result<Vec<String>> {
    let mut users: Vec<String> = Vec::new();
    for (n, line) in read_secret("bus.users_file", path)?.lines().enumerate() {
        let refused = |why: &str| {
            let text = format!("bus.users_file {}: line {}: {why}", path.display(), n + 1);
            Err(Error::new(ErrorKind::Input, text))
        };
        if line.trim().is_empty() {
            continue;
        }
        let Some((user, password)) = line.split_once(':') else {
            return refused("it must be user:password");
        };
        if !is_user_name(user) {
            return refused("a user is 1 to 64 letters, digits, \"-\", \"_\", \".\" or \"@\"");
        }
        if !is_password(password) {
            return refused(PASSWORD);
        }
        if users.iter().any(|u| u == user) {
            return refused("this user has a line already");
        }
        users.push(user.into());
    }
    Ok(users)
}
