//! Where a daemon is, and who asks. Each handle opens a connection of its own with this.

use std::time::Duration;

use hardstand_client::{Client, Credentials, Result};

const ENDPOINT: &str = "tcp/127.0.0.1:7447";
const ROBOT: &str = "quadruped";

/// Settings of a connection.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) endpoint: String,
    pub(crate) robot: String,
    pub(crate) asker: Option<String>,
    pub(crate) credentials: Credentials,
}

impl Settings {
    /// With this endpoint and robot, or else those of the environment, which `hardstand certify`
    /// and `hardstand campaign` set.
    pub(crate) fn new(endpoint: Option<&str>, robot: Option<&str>) -> Self {
        let or_else = |given: Option<&str>, variable: &str, default: &str| {
            let given = given.map(String::from).or_else(|| std::env::var(variable).ok());
            given.filter(|text| !text.is_empty()).unwrap_or_else(|| default.into())
        };
        Self {
            endpoint: or_else(endpoint, "HARDSTAND_CONNECT", ENDPOINT),
            robot: or_else(robot, "HARDSTAND_ROBOT", ROBOT),
            asker: None,
            credentials: Credentials::default(),
        }
    }

    pub(crate) fn connect(&self) -> Result<Client> {
        let client = Client::connect_as(&self.endpoint, &self.robot, &self.credentials)?;
        Ok(match &self.asker {
            Some(asker) => client.named(asker),
            None => client,
        })
    }
}

/// A patience from C.
pub(crate) const fn duration(patience_ns: u64) -> Duration {
    Duration::from_nanos(patience_ns)
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn what_is_given_counts_and_an_empty_text_is_the_default() {
        let given = Settings::new(Some("unixsock-stream/x"), Some("spot"));
        assert_eq!((given.endpoint.as_str(), given.robot.as_str()), ("unixsock-stream/x", "spot"));
        let empty = Settings::new(Some(""), Some(""));
        assert_eq!(
            (empty.endpoint.as_str(), empty.robot.as_str()),
            (super::ENDPOINT, super::ROBOT)
        );
    }
}
