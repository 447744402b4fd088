//! Channels beside the log's own.

use std::collections::BTreeMap;

use hardstand_log::{LogReader, LogWriter, SideChannel, SideMessages};

use crate::{digests, info, tick};

fn channel(topic: &str, first: Option<&[u8]>) -> SideChannel {
    SideChannel {
        topic: topic.into(),
        schema_name: "example/Text".into(),
        schema_encoding: "ros2msg".into(),
        schema_text: "string text".into(),
        message_encoding: "cdr".into(),
        metadata: BTreeMap::from([("key".into(), "value".into())]),
        first: first.map(<[u8]>::to_vec),
    }
}

#[test]
fn other_readers_see_the_side_messages_and_the_log_is_as_without_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.mcap");
    let channels = [channel("once", Some(b"robot")), channel("often", None)];
    let mut writer = LogWriter::create(&path, &info(), &channels).unwrap();
    let mut messages = SideMessages::default();
    for number in 0..20 {
        messages.clear();
        messages.push(1, number, &[number as u8; 3]);
        writer.write(&tick(number), &messages).unwrap();
    }
    messages.clear();
    messages.push(2, 0, b"no such channel");
    assert!(writer.write(&tick(20), &messages).is_err());
    drop(writer);

    let bytes = std::fs::read(&path).unwrap();
    let (mut once, mut often) = (Vec::new(), Vec::new());
    let options = [mcap::read::Options::IgnoreEndMagic].into_iter().collect();
    for message in mcap::MessageStream::new_with_options(&bytes, options).unwrap() {
        let Ok(message) = message else { break };
        match message.channel.topic.as_str() {
            "once" => once.push(message.data.to_vec()),
            "often" => often.push((message.log_time, message.data.to_vec())),
            _ => {}
        }
    }
    assert_eq!(once, [b"robot".to_vec()]);
    let expected: Vec<_> = (0..20).map(|n| (n, vec![n as u8; 3])).collect();
    assert_eq!(often, expected);
    // the last tick was in a chunk that was not closed any more
    assert_eq!(digests(LogReader::open(&path).unwrap()).0.len(), 20);
}
