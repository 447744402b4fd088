//! Keys, tokens and ids as text.

use hardstand::config::{Ros2Mode, Ros2Settings, Scenario};
use hardstand::ros2::messages::{JointState, RosString, SetBool};
use hardstand::ros2::{End, Naming};

fn settings(mode: Ros2Mode, sets: &[&str]) -> Ros2Settings {
    let urdf = "<robot name=\"r\"><link name=\"l\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" \
                ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link></robot>";
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Ros2Settings { mode, ..Scenario::from_texts("", urdf, &sets).unwrap().ros2 }
}

#[test]
fn rmw_zenoh_names_are_those_of_its_design_page() {
    let hash = "RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e";
    let mut names = Naming::new(&settings(Ros2Mode::RmwZenoh, &[]), "abc");
    assert_eq!(names.node_token(), "@ros2_lv/0/abc/0/0/NN/%/%/hardstand");
    let wire = names.end::<JointState>("joint_states", End::Publisher);
    assert_eq!(wire.key, format!("0/joint_states/sensor_msgs::msg::dds_::JointState_/{hash}"));
    assert_eq!(
        wire.token,
        format!(
            "@ros2_lv/0/abc/0/1/MP/%/%/hardstand/%joint_states/sensor_msgs::msg::dds_::JointState_/\
             {hash}/::,10:,:,:,,"
        )
    );
    // rmw_zenoh_cpp takes XXH3 of the token, 128 bits, little-endian
    let expected = xxhash_rust::xxh3::xxh3_128(wire.token.as_bytes());
    assert_eq!(u128::from_le_bytes(wire.gid), expected);
    let other = names.end::<JointState>("joint_states", End::Subscriber);
    assert_eq!(other.key, "0/joint_states/sensor_msgs::msg::dds_::JointState_/*");
    assert!(other.token.contains("/0/2/MS/") && other.token.ends_with("/::,1:,:,:,,"));
    assert_ne!(other.gid, wire.gid);

    let set_bool = "RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a";
    let served = names.server::<SetBool>("hardstand/pause");
    assert_eq!(served.key, "0/hardstand/pause/std_srvs::srv::dds_::SetBool_/*");
    assert_eq!(
        served.token,
        format!(
            "@ros2_lv/0/abc/0/3/SS/%/%/hardstand/%hardstand%pause/std_srvs::srv::dds_::SetBool_/\
             {set_bool}/::,10:,:,:,,"
        )
    );

    let moved = ["ros2.domain=42", "ros2.namespace=/lab/r1"];
    let mut names = Naming::new(&settings(Ros2Mode::RmwZenoh, &moved), "abc");
    assert_eq!(names.node_token(), "@ros2_lv/42/abc/0/0/NN/%/%lab%r1/hardstand");
    let wire = names.end::<RosString>("robot_description", End::Latched);
    assert!(
        wire.key.starts_with("42/lab/r1/robot_description/std_msgs::msg::dds_::String_/RIHS01_")
    );
    assert!(wire.token.contains("/MP/%/%lab%r1/hardstand/%lab%r1%robot_description/"));
    assert!(wire.token.ends_with("/:1:,1:,:,:,,"));
    assert_eq!(names.full("/clock"), "clock");
}

#[test]
fn bridge_names_are_those_of_its_source() {
    let mut names = Naming::new(&settings(Ros2Mode::Bridge, &["ros2.namespace=r1"]), "abc");
    assert_eq!(names.node_token(), "@/abc/@ros2_lv");
    let wire = names.end::<JointState>("joint_states", End::Publisher);
    assert_eq!(wire.key, "r1/joint_states");
    let hash = "a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e";
    let token = |end: &str, qos: &str| {
        format!("@/abc/@ros2_lv/{end}/sensor_msgs§msg§JointState/{qos}:typehash=RIHS01_{hash};")
    };
    assert_eq!(wire.token, token("MP/r1§joint_states", ":1:0:0,10"));
    for (end, qos) in [(End::Subscriber, ":0:0:0,1"), (End::ReliableSubscriber, ":1:0:0,1")] {
        let wire = names.end::<JointState>("joint_commands", end);
        assert_eq!(wire.token, token("MS/r1§joint_commands", qos));
    }
    let wire = names.end::<RosString>("/tf_static", End::Latched);
    let begin = "@/abc/@ros2_lv/MP/tf_static/std_msgs§msg§String/:1:1:0,1:typehash=RIHS01_df66";
    assert!(wire.token.starts_with(begin), "{}", wire.token);
    let served = names.server::<SetBool>("hardstand/pause");
    assert_eq!(served.key, "r1/hardstand/pause");
    assert_eq!(served.token, "@/abc/@ros2_lv/SS/r1§hardstand§pause/std_srvs§srv§SetBool");
    assert!(!names.has_attachments());
}
