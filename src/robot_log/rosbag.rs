//! Bags of ROS 2: MCAP files, as `ros2 bag record -s mcap` writes them, and SQLite files, as ROS 2
//! writes them up to Humble.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};
use mcap::io::MessageReader;
use mcap::sans_io::linear_reader::LinearReaderOptions;

use super::messages::{Messages, Recorded};
use super::sqlite::{Database, Value};
use super::whole_file::bytes_of;
use super::{Columns, packed};

/// How a Zstandard frame begins.
const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Reads an MCAP file as [`parse_rosbag`] does.
///
/// # Errors
/// Those of [`parse_rosbag`]; [`ErrorKind::File`] if it cannot be read.
pub(super) fn read(file: &Path) -> Result<Columns> {
    parse_rosbag(&file.display().to_string(), &bytes_of(file)?)
}

/// Reads an SQLite file as [`parse_sqlite_bag`] does.
///
/// # Errors
/// Those of [`parse_sqlite_bag`]; [`ErrorKind::File`] if it cannot be read; [`ErrorKind::Input`] if
/// a part of it is still in a file beside it.
pub(super) fn read_sqlite(file: &Path) -> Result<Columns> {
    let name = file.display().to_string();
    for end in ["-wal", "-journal"] {
        let beside = PathBuf::from(format!("{name}{end}"));
        if std::fs::metadata(&beside).is_ok_and(|file| file.len() > 0) {
            let text = format!(
                "{name}: the recording was cut off, and {} holds what is missing; \
                 `sqlite3 {name} \"SELECT count(*) FROM messages\"` brings both together",
                beside.display()
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    parse_sqlite_bag(&name, &bytes_of(file)?)
}

/// Reads the bytes of an MCAP file that is called `name`: the messages that hold joint states or
/// commands. A column is called like the topic, a dot, the field and, in brackets, the joint's name
/// or, where the message has none, its index.
///
/// # Errors
/// [`ErrorKind::Input`] for what is no MCAP file, packed in a way that is not read, a chunk whose
/// checksum is another one, what is too large for a table, or a message that its type does not
/// describe, with topic and number.
pub fn parse_rosbag(name: &str, bytes: &[u8]) -> Result<Columns> {
    let refused = |text: String| Error::new(ErrorKind::Input, format!("{name}: {text}"));
    let bytes = packed::unpacked(bytes).map_err(refused)?;
    let stream = || {
        // a changed byte would be read as another number; no record is longer than the file
        let options = LinearReaderOptions::default()
            .with_validate_chunk_crcs(true)
            .with_record_length_limit(bytes.len());
        MessageReader::new_with_options(&bytes[..], options)
    };
    let broken = |(number, e): (usize, mcap::McapError)| refused(format!("message {number}: {e}"));
    // a chunk's checksum is compared at its end: all of them before any message is read
    for (number, message) in stream().enumerate() {
        message.map_err(|e| broken((number, e)))?;
    }
    let mut messages = Messages::of(name);
    for (number, message) in stream().enumerate() {
        let message = message.map_err(|e| broken((number, e)))?;
        messages.take(&Recorded {
            number: number as u64,
            topic: &message.channel.topic,
            kind: message.channel.schema.as_ref().map_or("", |s| s.name.as_str()),
            log_ns: message.log_time,
            data: &message.data,
        })?;
    }
    messages.table()
}

/// Reads the bytes of an SQLite file that is called `name`, as [`parse_rosbag`] reads an MCAP file.
///
/// # Errors
/// [`ErrorKind::Input`] for what is no SQLite file of ROS 2, a damaged one, packed messages, and
/// what [`parse_rosbag`] refuses. SQLite has no checksums: a changed byte in a number is not
/// noticed.
pub fn parse_sqlite_bag(name: &str, bytes: &[u8]) -> Result<Columns> {
    let database = Database::open(name, bytes)?;
    let mut topics = BTreeMap::new();
    let columns = ["id", "name", "type", "serialization_format"];
    database.rows("topics", columns, |[id, topic, kind, format]| {
        let (Some(id), Some(topic), Some(kind)) = (id.integer(), topic.text(), kind.text()) else {
            return Err(database.error("topics has a row without name or type"));
        };
        let format = format.text().unwrap_or_default();
        if format != "cdr" {
            let text = format!("topic {topic} is serialized as {format:?}; \"cdr\" is read");
            return Err(database.error(&text));
        }
        topics.insert(id, (topic.to_owned(), kind.to_owned()));
        Ok(())
    })?;
    let mut messages = Messages::of(name);
    let columns = ["id", "topic_id", "timestamp", "data"];
    database.rows("messages", columns, |[id, topic, log_ns, data]| {
        let number = id.integer().unwrap_or_default().unsigned_abs();
        let refused = |text: &str| Err(database.error(&format!("message {number}: {text}")));
        let Some((topic, kind)) = topic.integer().and_then(|id| topics.get(&id)) else {
            return refused("its topic is not in the table of topics");
        };
        let log_ns = log_ns.integer().and_then(|ns| u64::try_from(ns).ok());
        let (Some(log_ns), Value::Bytes(data)) = (log_ns, data) else {
            return refused("it has no time or no data");
        };
        if data.starts_with(ZSTANDARD) {
            return refused(
                "it is packed with Zstandard (compression_mode: MESSAGE); `ros2 bag convert`, or \
                 `rosbags-convert --src FOLDER --dst NEW_FOLDER` of PyPI's rosbags, unpacks it",
            );
        }
        messages.take(&Recorded { number, topic, kind, log_ns, data })
    })?;
    messages.table()
}
