//! Makes a log whole again: one that was cut off has no index, and most readers refuse it.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use mcap::records::Record;
use mcap::{Attachment, McapResult, Writer};

use hardstand_error::Result;

use crate::records::Records;
use crate::writer::{file_error, options};
use crate::{LogReader, TICK_TOPIC};

/// What was saved of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Ticks in the new file.
    pub ticks: u64,
    /// Messages in it.
    pub messages: u64,
    /// What is wrong with the old one, if anything is.
    pub damage: Option<String>,
}

/// Copies what is whole of the log `from` to the new file `to`, with index and end. The same
/// chunks, the same messages: it replays like the old one.
///
/// # Errors
/// [`ErrorKind::File`](hardstand_error::ErrorKind::File) if `from` cannot be read, or `to` cannot
/// be written or exists already;
/// [`ErrorKind::Log`](hardstand_error::ErrorKind::Log) if `from` is not a log that can be replayed.
pub fn recover(from: &Path, to: &Path) -> Result<Recovered> {
    // robot and scenario must be there
    drop(LogReader::open(from)?);
    let failed = |e: &dyn std::error::Error| file_error(to, e);
    let source = File::open(from).map_err(|e| file_error(from, &e))?;
    let file = File::create_new(to).map_err(|e| failed(&e))?;
    let writer = BufWriter::new(file.try_clone().map_err(|e| failed(&e))?);
    let mut mcap = options().create(writer).map_err(|e| failed(&e))?;
    let mut records = Records::new(Box::new(source));
    let (mut saved, mut tick_channel) = (Recovered::default(), None);
    loop {
        match records.next() {
            Ok(Some(record)) => {
                match &record {
                    Record::Channel(c) if c.topic == TICK_TOPIC => tick_channel = Some(c.id),
                    Record::Message { header, .. } => {
                        saved.messages += 1;
                        saved.ticks += u64::from(Some(header.channel_id) == tick_channel);
                    }
                    _ => {}
                }
                let in_chunk = matches!(record, Record::Message { .. } | Record::Channel(_));
                copy(record, &mut mcap).map_err(|e| failed(&e))?;
                if in_chunk && records.is_at_border() {
                    mcap.flush().map_err(|e| failed(&e))?;
                }
            }
            Ok(None) => break,
            Err(e) => {
                saved.damage = Some(e.to_string());
                break;
            }
        }
    }
    mcap.finish().map_err(|e| failed(&e))?;
    file.sync_all().map_err(|e| failed(&e))?;
    Ok(saved)
}

/// Index and end are made anew.
fn copy<W: Write + std::io::Seek>(record: Record<'_>, mcap: &mut Writer<W>) -> McapResult<()> {
    match record {
        Record::Schema { header, data } => {
            mcap.add_schema_with_id(header.id, &header.name, &header.encoding, &data)?;
        }
        Record::Channel(c) => {
            let (topic, encoding) = (&c.topic, &c.message_encoding);
            mcap.add_channel_with_id(c.id, c.schema_id, topic, encoding, &c.metadata)?;
        }
        Record::Message { header, data } => mcap.write_to_known_channel(&header, &data)?,
        Record::Metadata(metadata) => mcap.write_metadata(&metadata)?,
        Record::Attachment { header, data, .. } => mcap.attach(&Attachment {
            log_time: header.log_time,
            create_time: header.create_time,
            name: header.name,
            media_type: header.media_type,
            data: Cow::Borrowed(&data),
        })?,
        _ => {}
    }
    Ok(())
}
