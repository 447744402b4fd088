//! Sends messages of a remote control to the daemon, as a node of ROS 2 does.

use std::time::{Duration, Instant};

use super::super::arguments::RemoteArguments;
#[cfg(feature = "dds")]
use crate::dds::{Participant, Quality, Writer};
use crate::ros2::dds_type;
use crate::ros2::messages::{Joy, Message};
use hardstand_client::Client;
use hardstand_error::{Error, ErrorKind, Result};

/// Time to find the daemon.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time for the last message to leave.
const LAST: Duration = Duration::from_millis(100);

/// The way to the daemon.
#[derive(Debug)]
pub(super) struct Sender {
    way: Way,
    buffer: Vec<u8>,
}

#[derive(Debug)]
enum Way {
    /// The daemon's bus, and the key of `rmw_zenoh`.
    Bus(Box<Client>, String),
    /// A writer of `rt/joy`, and its participant.
    #[cfg(feature = "dds")]
    Dds(Box<(Writer, Participant)>),
}

impl Sender {
    pub(super) fn new(a: &RemoteArguments) -> Result<Self> {
        let joy_type = dds_type(Joy::NAME, "");
        #[cfg(feature = "dds")]
        if a.dds {
            let participant = Participant::open(a.domain, &a.interface)?;
            let writer = participant.writer("rt/joy", &joy_type, Quality::Reliable)?;
            wait("no reader of rt/joy", || writer.is_wanted())?;
            return Ok(Self { way: Way::Dds(Box::new((writer, participant))), buffer: Vec::new() });
        }
        let client = a.daemon.client()?;
        let key = format!("{}/joy/{joy_type}/{}", a.domain, Joy::HASH);
        wait(&format!("no daemon at {}", a.daemon.connect), || client.is_connected())?;
        Ok(Self { way: Way::Bus(Box::new(client), key), buffer: Vec::new() })
    }

    pub(super) fn send(&mut self, joy: &Joy) -> Result<()> {
        joy.encode(&mut self.buffer);
        match &self.way {
            Way::Bus(client, key) => client.put(key, &self.buffer)?,
            // one that the send buffer does not take is sent again soon
            #[cfg(feature = "dds")]
            Way::Dds(both) => _ = both.0.put(&self.buffer),
        }
        Ok(())
    }

    pub(super) fn finish(self) {
        std::thread::sleep(LAST);
    }
}

fn wait(what: &str, is_there: impl Fn() -> bool) -> Result<()> {
    let begin = Instant::now();
    while !is_there() {
        if begin.elapsed() > PATIENCE {
            let text = format!("{what} within {PATIENCE:?}; it must run with unitree.enabled=true");
            return Err(Error::new(ErrorKind::Bus, text));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
