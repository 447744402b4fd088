//! `unitree_api/msg` (github.com/unitreerobotics/unitree_ros2): calls and answers.

use crate::ros2::cdr::{CDR_HEADER_BYTES, Reader};
use crate::ros2::field::{Field, structs};
use crate::ros2::messages::Message;

structs! {
    /// Identifies a call.
    Identity is "unitree_api/RequestIdentity" {
        /// Number that the caller chose.
        id: i64,
        /// What is called.
        api_id: i64,
    }
    /// A lease of the service.
    Lease is "unitree_api/RequestLease" {
        /// 0 without one.
        id: i64,
    }
    /// How to answer.
    Policy is "unitree_api/RequestPolicy" {
        /// Priority.
        priority: i32,
        /// True: no answer.
        noreply: bool,
    }
    /// The head of a call.
    RequestHeader is "unitree_api/RequestHeader" {
        /// Identity.
        identity: Identity,
        /// Lease.
        lease: Lease,
        /// Policy.
        policy: Policy,
    }
    /// A call.
    Request is "unitree_api/Request" {
        /// Head.
        header: RequestHeader,
        /// JSON.
        parameter: String,
        /// Other data.
        binary: Vec<u8>,
    }
    /// The outcome of a call.
    Status is "unitree_api/ResponseStatus" {
        /// 0, or a code of an error.
        code: i32,
    }
    /// The head of an answer.
    ResponseHeader is "unitree_api/ResponseHeader" {
        /// That of the call.
        identity: Identity,
        /// Outcome.
        status: Status,
    }
    /// An answer.
    Response is "unitree_api/Response" {
        /// Head.
        header: ResponseHeader,
        /// JSON.
        data: String,
        /// Other data.
        binary: Vec<i8>,
    }
}

/// Bytes of the head of a call, which has no padding: three numbers of 8 bytes, one of 4, one of 1.
const HEAD_BYTES: usize = CDR_HEADER_BYTES + 3 * 8 + 4 + 1;

impl Request {
    /// The head alone, of a call that cannot be read as a whole: one that is too long, or cut off.
    #[must_use]
    pub fn head(bytes: &[u8]) -> Option<RequestHeader> {
        let mut reader = Reader::new(bytes.get(..HEAD_BYTES)?).ok()?;
        RequestHeader::read(&mut reader).ok()
    }
}

// tests/ros2/unitree.py compares this with PyPI rosbags
impl Message for Request {
    const HASH: &'static str =
        "RIHS01_60dda80d19538b06c8f79b77222b1b7642dd753b8439a6bd535ff0cba08c5378";
    const NAME: &'static str = "unitree_api/msg/Request";
}

impl Message for Response {
    const HASH: &'static str =
        "RIHS01_5300d019bb652073e7248995c878765c68ab519bcbdbad2e2a17c81abd8888b9";
    const NAME: &'static str = "unitree_api/msg/Response";
}
