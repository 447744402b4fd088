//! Processes that stay up from case to case.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::config::Scenario;
use crate::process_harness::{Ended, Harness, Worker};
use crate::simulation::describe;
use hardstand_error::{Error, ErrorKind, Result};
use hardstand_protocol::{Kind, encode};

use super::store::{forget, fresh};

/// Those that wait for a case.
#[derive(Debug, Default)]
pub struct Workers(Mutex<Vec<(Worker, Socket)>>);

impl Workers {
    /// Runs a case, `harness` without an endpoint, whose robot is `model`, to its end.
    pub(super) fn run(
        &self,
        mut harness: Harness,
        model: u64,
        go_on: &dyn Fn() -> bool,
    ) -> Result<Ended> {
        let waiting = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = waiting().pop();
        let (mut worker, socket) = match found {
            Some(found) => found,
            None => {
                let socket = Socket::new()?;
                (Worker::start(socket.0.clone())?, socket)
            }
        };
        socket.connect(&mut harness);
        let ended = worker.run(&harness, model, go_on)?;
        if worker.stays(&ended) {
            waiting().push((worker, socket));
        }
        Ok(ended)
    }
}

/// What a controller may have asked the daemon for: a hash of its answer. 0 for a scenario that is
/// refused, as the daemon will say.
pub(super) fn model_of(file: &std::path::Path, sets: &[String]) -> u64 {
    let Ok(scenario) = Scenario::load(file, sets) else { return 0 };
    let model = describe(&scenario.simulation(), 0, scenario.gains_max, &scenario.hold_gains);
    let mut bytes = Vec::new();
    let encoded = encode(Kind::Model, &model, &mut bytes);
    bytes.extend(scenario.robot_urdf.as_bytes());
    encoded.map_or(0, |()| xxh3_64(&bytes))
}

/// A unix socket in a folder of its own, gone when dropped.
#[derive(Debug)]
pub struct Socket(PathBuf);

impl Socket {
    /// One for a log that is run again and whose `endpoint` is a unix socket in a folder that is
    /// gone, as those of campaigns are.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if no folder can be made for it.
    pub fn in_place_of(endpoint: &str) -> Result<Option<Self>> {
        let path = endpoint.strip_prefix("unixsock-stream/").map(Path::new);
        let folder = path.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let is_gone = folder.is_some_and(|folder| !folder.is_dir());
        is_gone.then(Self::new).transpose()
    }

    /// Not beside the log, for the path of a socket is short.
    pub(super) fn new() -> Result<Self> {
        let folder = fresh(&std::env::temp_dir(), &format!("hardstand-{}-", std::process::id()))?;
        let socket = Self(folder);
        let path = socket.path();
        if path.as_os_str().len() > SOCKET_BYTES_MAX {
            return Err(Error::new(
                ErrorKind::File,
                format!(
                    "{}: a unix socket's path has at most {SOCKET_BYTES_MAX} bytes; set TMPDIR to \
                     a shorter one",
                    path.display()
                ),
            ));
        }
        Ok(socket)
    }

    /// Where a daemon listens on it.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("unixsock-stream/{}", self.path().display())
    }

    /// Lets daemon and controller meet there.
    pub fn connect(&self, harness: &mut Harness) {
        harness.endpoint = self.endpoint();
        let set = format!("bus.listen=[{:?}]", harness.endpoint);
        harness.run.extend(["--set".into(), set.into()]);
    }

    fn path(&self) -> PathBuf {
        self.0.join("s")
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        forget(&self.0);
    }
}

/// Of 108, zenoh takes five for the name of its lock file, and one ends the text.
const SOCKET_BYTES_MAX: usize = 102;
