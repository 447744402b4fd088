//! A controller in Rust: it answers every state and holds the initial joint positions.
//!
//! ```text
//! hardstand run config/quadruped.toml                    # one terminal
//! cargo run --release --example stand                    # another: [ENDPOINT [ROBOT]]
//! ```

use std::time::Duration;

use hardstand_client::{Client, JoinRequest};

fn main() -> hardstand_client::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let endpoint = arguments.next().unwrap_or_else(|| "tcp/127.0.0.1:7447".into());
    let robot = arguments.next().unwrap_or_else(|| "quadruped".into());

    let client = Client::connect(&endpoint, &robot)?;
    let model = client.model(Duration::from_secs(30))?;
    let commands = model.hold();

    // in lockstep every state; in real time the newest. It joins again after a loss or a reset
    let mut controller = client.join(JoinRequest::new(&model, "legs"), Duration::from_secs(5))?;
    while let Some(state) = controller.next_state(Duration::from_secs(5))? {
        // your control law goes here: state.joints, state.imu_…, state.foot_contact → commands.
        // The drives make tau_ff + kp (q − q_measured) + kd (dq − dq_measured)
        controller.answer(&state, &commands)?;
    }
    Ok(())
}
