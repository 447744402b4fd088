//! A controller in Rust: it answers every state and holds the initial joint positions.
//!
//! ```text
//! hardstand run config/quadruped.toml                    # one terminal
//! cargo run --release --example stand                    # another: [ENDPOINT [ROBOT]]
//! ```

use std::time::Duration;

use hardstand_client::{Client, JointCommand, JointDescription};

fn main() -> hardstand_client::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let endpoint = arguments.next().unwrap_or_else(|| "tcp/127.0.0.1:7447".into());
    let robot = arguments.next().unwrap_or_else(|| "quadruped".into());

    let client = Client::connect(&endpoint, &robot)?;
    let model = client.model(Duration::from_secs(30))?;
    // the drives make tau = tau_ff + kp (q − q_measured) + kd (dq − dq_measured)
    let hold = |joint: &JointDescription| JointCommand {
        q: joint.q_initial,
        dq: 0.0,
        kp: 100.0,
        kd: 3.0,
        tau_ff: 0.0,
    };
    let commands: Vec<JointCommand> = model.joints.iter().map(hold).collect();

    let mut controller = client.control(&model)?;
    while let Some(state) = controller.next_state(Duration::from_secs(5))? {
        if controller.has_lost(&state) {
            controller.renew_session();
        }
        // your control law goes here: state.joints, state.imu_…, state.foot_contact → commands
        controller.send(&state, &commands)?;
    }
    Ok(())
}
