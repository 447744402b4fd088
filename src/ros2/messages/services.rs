//! `std_srvs` and `simulation_interfaces`: requests and answers, and their services.

use super::{
    CancelAnswer, CancelRequest, GetResultAnswer, GetResultRequest, Header, Pose, SendGoalAnswer,
    SendGoalRequest, Twist, Vector3,
};
use crate::ros2::cdr::{CdrError, Reader, Writer};
use crate::ros2::field::{Field, structs};

structs! {
    /// Request of `SetBool`.
    SetBoolRequest is "std_srvs/SetBool_Request" {
        /// On or off.
        data: bool,
    }
    /// Answer of `SetBool` and `Trigger`.
    Success is "std_srvs/Trigger_Response" {
        /// True if the request succeeded.
        success: bool,
        /// Message.
        message: String,
    }
    /// Result of a request.
    SimResult is "simulation_interfaces/Result" {
        /// One of the codes of this type, or of the service.
        result: u8,
        /// Reason of a failure.
        error_message: String,
    }
    /// Whether the simulation runs.
    SimulationState is "simulation_interfaces/SimulationState" {
        /// One of the states of this type.
        state: u8,
    }
    /// Features of a simulator.
    SimulatorFeatures is "simulation_interfaces/SimulatorFeatures" {
        /// Numbers of the features.
        features: Vec<u16>,
        /// Formats of robots that can be spawned.
        spawn_formats: Vec<String>,
        /// Further information.
        custom_info: String,
    }
    /// Linear and angular acceleration.
    Accel is "geometry_msgs/Accel" {
        /// m/s².
        linear: Vector3,
        /// rad/s².
        angular: Vector3,
    }
    /// Pose, velocity and acceleration of an entity.
    EntityState is "simulation_interfaces/EntityState" {
        /// Time and frame.
        header: Header,
        /// In that frame.
        pose: Pose,
        /// In that frame.
        twist: Twist,
        /// In that frame.
        acceleration: Accel,
    }
    /// Answer of `GetSimulatorFeatures`.
    Features is "simulation_interfaces/GetSimulatorFeatures_Response" {
        /// The features.
        features: SimulatorFeatures,
    }
    /// Answer of `GetSimulationState`.
    StateAnswer is "simulation_interfaces/GetSimulationState_Response" {
        /// The state.
        state: SimulationState,
        /// Result.
        result: SimResult,
    }
    /// Request of `SetSimulationState`.
    StateRequest is "simulation_interfaces/SetSimulationState_Request" {
        /// Requested state.
        state: SimulationState,
    }
    /// Answer of services that return only a result.
    Done is "simulation_interfaces/SetSimulationState_Response" {
        /// Result.
        result: SimResult,
    }
    /// Request of `StepSimulation`.
    StepRequest is "simulation_interfaces/StepSimulation_Request" {
        /// Ticks.
        steps: u64,
    }
    /// Request of `ResetSimulation`.
    ResetRequest is "simulation_interfaces/ResetSimulation_Request" {
        /// Bits: 1 time, 2 state, 4 spawned entities; 0: all.
        scope: u8,
    }
    /// Request of `GetEntityState`.
    EntityRequest is "simulation_interfaces/GetEntityState_Request" {
        /// Name of the entity.
        entity: String,
    }
    /// Answer of `GetEntityState`.
    EntityAnswer is "simulation_interfaces/GetEntityState_Response" {
        /// Result.
        result: SimResult,
        /// State of the entity.
        state: EntityState,
    }
    /// Request of `SetEntityState` since 2.1.
    ChosenPlaceRequest is "simulation_interfaces/SetEntityState_Request" {
        /// Name of the entity.
        entity: String,
        /// Requested state.
        state: EntityState,
        /// Whether to set the pose.
        set_pose: bool,
        /// Whether to set the velocity.
        set_twist: bool,
        /// Whether to set the acceleration.
        set_acceleration: bool,
    }
    /// Request of `SetEntityState` before 2.1.
    PlaceRequest is "simulation_interfaces/SetEntityState_Request" {
        /// Name of the entity.
        entity: String,
        /// Requested state.
        state: EntityState,
    }
}

/// A request without fields. CDR encodes it as one byte, because a struct has at least one member;
/// some clients send no byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Empty;

impl Field for Empty {
    const BYTES_MIN: usize = 0;

    fn type_name() -> String {
        "std_srvs/Empty_Request".into()
    }

    fn zero() -> Self {
        Self
    }

    fn write(&self, w: &mut Writer<'_>) {
        w.number([0]);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, CdrError> {
        if !r.is_at_end() {
            let [_meaningless] = r.number()?;
        }
        Ok(Self)
    }
}

impl SimResult {
    /// Not supported by this simulator.
    pub const FEATURE_UNSUPPORTED: u8 = 0;
    /// Done.
    pub const OK: u8 = 1;
    /// No entity has this name.
    pub const NOT_FOUND: u8 = 2;
    /// The request failed.
    pub const OPERATION_FAILED: u8 = 4;
    /// Of `SetSimulationState`: already in this state.
    pub const ALREADY_IN_TARGET_STATE: u8 = 101;
}

impl SimulationState {
    /// At the start; time is stopped.
    pub const STOPPED: u8 = 0;
    /// Time passes.
    pub const PLAYING: u8 = 1;
    /// Time is paused.
    pub const PAUSED: u8 = 2;
}

/// A service type.
pub trait Service {
    /// Request type.
    type Request: Field;
    /// Answer type.
    type Answer: Field;
    /// `RIHS01_` and 64 hex digits.
    const HASH: &'static str;
    /// `package/srv/Type`.
    const NAME: &'static str;
}

/// Decodes a value. Only padding may follow it.
///
/// # Errors
/// The reason why the bytes are invalid.
pub fn read<T: Field>(bytes: &[u8]) -> Result<T, CdrError> {
    let mut reader = Reader::new(bytes)?;
    let value = T::read(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Encodes a value.
pub fn written<T: Field>(value: &T) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.write(&mut Writer::new(&mut bytes));
    bytes
}

macro_rules! services {
    ($(
        $(#[$about:meta])*
        $name:ident: $request:ty => $answer:ty, $ros:literal, $hash:literal;
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Service for $name {
            type Request = $request;
            type Answer = $answer;
            const HASH: &'static str = concat!("RIHS01_", $hash);
            const NAME: &'static str = $ros;
        }
    )*};
}

services! {
    /// Takes a goal of `FollowJointTrajectory`.
    SendGoal: SendGoalRequest => SendGoalAnswer,
        "control_msgs/action/FollowJointTrajectory_SendGoal",
        "b13789dddc325a7a962825c45e28c77d37237ec129dd0c34dc5994562938c57f";
    /// Returns how a goal of it ended, when it has.
    GetResult: GetResultRequest => GetResultAnswer,
        "control_msgs/action/FollowJointTrajectory_GetResult",
        "e3ceb38e3e1867c8dc0f46014df26e90eb93422f27e9e97f936e07f94be4bc8b";
    /// Cancels goals.
    CancelGoal: CancelRequest => CancelAnswer, "action_msgs/srv/CancelGoal",
        "573d8b0a534451d7bc2ac8c5ffde8ac14b8593b7001175d0cd6516dcbeb8689a";
    /// On or off.
    SetBool: SetBoolRequest => Success, "std_srvs/srv/SetBool",
        "abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a";
    /// Triggers an action.
    Trigger: Empty => Success, "std_srvs/srv/Trigger",
        "eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f";
    /// Returns the features of the simulator.
    GetSimulatorFeatures: Empty => Features, "simulation_interfaces/srv/GetSimulatorFeatures",
        "abb9439c8cf196722a469fb6c68b44b484f198c2a1356ac38849a29c2a20a794";
    /// Returns whether the simulation runs.
    GetSimulationState: Empty => StateAnswer, "simulation_interfaces/srv/GetSimulationState",
        "3362dcebee4b1afebbf9c4beee5c79c1455385aded62092a892d61fde8644f30";
    /// Starts, pauses or stops the simulation.
    SetSimulationState: StateRequest => Done, "simulation_interfaces/srv/SetSimulationState",
        "a868b916dce49974f637ba252141258c4b07b0c06858b88af560e3eb6bfbcb30";
    /// Runs a number of ticks.
    StepSimulation: StepRequest => Done, "simulation_interfaces/srv/StepSimulation",
        "913fe0653690ce6bf8f09f316e6a626747012e9fca31e26719910d417aa8565c";
    /// Resets the simulation.
    ResetSimulation: ResetRequest => Done, "simulation_interfaces/srv/ResetSimulation",
        "4ce285d7ff9b8ac70dcc95161f32bf54c05a6f4b13427990e41ab40c36c39646";
    /// Returns the state of an entity.
    GetEntityState: EntityRequest => EntityAnswer, "simulation_interfaces/srv/GetEntityState",
        "749c91f2a2353d98367b64f2995a0f5842ce92a08ec1ffb3e185540a91557fb5";
    /// Sets the state of an entity, before 2.1.
    SetEntityState: PlaceRequest => Done, "simulation_interfaces/srv/SetEntityState",
        "ca210e7d2b66629ae133c8e1edf5246e618106d75c78ed0556c0e7a33c59ee5e";
    /// Sets chosen parts of the state of an entity, since 2.1.
    SetChosenEntityState: ChosenPlaceRequest => Done, "simulation_interfaces/srv/SetEntityState",
        "fba636c91d38832dbd4f6896ffce54ff98fd9929962b0533546b56ce00f988ac";
}
