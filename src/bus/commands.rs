//! Where commands arrive.

use zenoh::Wait;
use zenoh::pubsub::Subscriber;

use crate::fault_point;
use crate::ingress::CommandIngress;
use hardstand_error::Result;
use hardstand_protocol::is_exact;

use super::{Bus, Keys, bus_error};

/// Subscribes to the commands of `keys`; `desk` takes them in on zenoh's own thread. A message that
/// was put under a pattern of keys is none. The subscription lasts as long as the returned value.
///
/// # Errors
/// [`ErrorKind::Bus`](crate::ErrorKind::Bus).
pub fn subscribe_commands(bus: &Bus, keys: &Keys, desk: CommandIngress) -> Result<Subscriber<()>> {
    let panic_guard = bus.panic_guard.clone();
    bus.session
        .declare_subscriber(keys.cmd.clone())
        .callback(move |sample| {
            panic_guard.guard(|| {
                fault_point::visit("command");
                if !is_exact(sample.key_expr()) {
                    return;
                }
                let bytes = sample.payload().to_bytes();
                let _counted = desk.take_in(&bytes).is_ok();
            });
        })
        .wait()
        .map_err(|e| bus_error(&keys.cmd, e))
}
