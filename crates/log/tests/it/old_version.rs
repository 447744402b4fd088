//! Logs of another version of the protocol.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

use hardstand_error::ErrorKind;
use hardstand_log::{KEYFRAME_TOPIC, LogReader, ROBOT_ATTACHMENT, SCENARIO_ATTACHMENT};
use hardstand_protocol::VERSION;

/// A log whose only message is a keyframe of this version, in an envelope or bare.
fn log_of(version: u8, envelope: &[u8]) -> Vec<u8> {
    let mut writer = mcap::Writer::new(Cursor::new(Vec::new())).unwrap();
    let channel_id = writer.add_channel(0, KEYFRAME_TOPIC, "cdr", &BTreeMap::new()).unwrap();
    for name in [ROBOT_ATTACHMENT, SCENARIO_ATTACHMENT] {
        let (media_type, data) = (String::new(), Cow::Borrowed(&b"text"[..]));
        let name = name.into();
        let file = mcap::Attachment { log_time: 0, create_time: 0, name, media_type, data };
        writer.attach(&file).unwrap();
    }
    let header =
        mcap::records::MessageHeader { channel_id, sequence: 0, log_time: 0, publish_time: 0 };
    let data = [envelope, &[b'H', b'S', version, 7], &[0; 20]].concat();
    writer.write_to_known_channel(&header, &data).unwrap();
    writer.finish().unwrap();
    writer.into_inner().into_inner()
}

#[test]
fn a_log_of_another_version_is_refused_with_both_versions() {
    let envelope = [0, 1, 0, 0, 24, 0, 0, 0];
    for (version, envelope) in [(VERSION - 1, &envelope[..]), (VERSION + 1, &envelope), (2, &[])] {
        let bytes = log_of(version, envelope);
        let refused = LogReader::from_bytes(Path::new("old.mcap"), bytes).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Log);
        let text = refused.to_string();
        assert!(text.contains(&format!("old.mcap is a log of version {version};")), "{text}");
        assert!(text.contains(&format!("reads logs of version {VERSION}")), "{text}");
    }
}
