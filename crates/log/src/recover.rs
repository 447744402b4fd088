//! Makes a log whole again: one that was cut off has no index, and most readers refuse it.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use mcap::records::Record;
use mcap::write::NoSeek;
use mcap::{Attachment, McapResult, Writer};

use hardstand_error::{Result, open_regular};
use hardstand_protocol::{Kind, LogLink, decode};

use crate::chain::{ChainSink, ChainWriter};
use crate::chunk_parser::refuse;
use crate::records::Records;
use crate::writer::{file_error, options};
use crate::{CHAIN_TOPIC, LogReader, TICK_TOPIC, envelope};

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
/// chunks, the same messages: it replays like the old one. The copy has the bytes of the old one up
/// to its last link, so a file that goes on from the old one goes on from the copy.
///
/// # Errors
/// [`ErrorKind::File`](hardstand_error::ErrorKind::File) if `from` cannot be read, or `to` cannot
/// be written or exists already;
/// [`ErrorKind::Log`](hardstand_error::ErrorKind::Log) if `from` is not a log that can be replayed.
/// Then there is no file `to`.
pub fn recover(from: &Path, to: &Path) -> Result<Recovered> {
    let source = source(from)?;
    let file = File::create_new(to).map_err(|e| file_error(to, &e))?;
    copy_whole(source, &file, to).inspect_err(|_| _ = std::fs::remove_file(to))
}

/// [`recover`] into an empty file that is open, which errors call `to`.
///
/// # Errors
/// As [`recover`]; what has been written stays.
pub fn recover_into(from: &Path, file: &File, to: &Path) -> Result<Recovered> {
    copy_whole(source(from)?, file, to)
}

fn source(from: &Path) -> Result<File> {
    // robot and scenario must be there
    drop(LogReader::open(from)?);
    open_regular(from).map_err(|e| file_error(from, &e))
}

fn copy_whole(source: File, file: &File, to: &Path) -> Result<Recovered> {
    let mut records = Records::new(Box::new(source));
    let mut saved = Recovered::default();
    let mut copy = Copy::begin(&mut records, file, to)?;
    let mut is_index = false;
    loop {
        match records.next() {
            Ok(Some(record)) => {
                // what follows is made anew, and only has to be whole
                is_index |= matches!(record, Record::DataEnd(_));
                if is_index {
                    continue;
                }
                let record = record.into_owned();
                saved.count(&record, &copy);
                copy.take(record, records.is_at_border())?;
            }
            Ok(None) => break,
            Err(e) => {
                saved.damage = Some(e.to_string());
                break;
            }
        }
    }
    copy.finish()?;
    file.sync_all().map_err(|e| file_error(to, &e))?;
    Ok(saved)
}

impl Recovered {
    fn count(&mut self, record: &Record<'_>, copy: &Copy<'_>) {
        if let Record::Message { header, .. } = record
            && Some(header.channel_id) != copy.chain_channel
        {
            self.messages += 1;
            self.ticks += u64::from(Some(header.channel_id) == copy.tick_channel);
        }
    }
}

/// The new file.
struct Copy<'a> {
    path: &'a Path,
    /// Dropped before `mcap`, which would write an index after the last link.
    chain: Option<ChainWriter<File>>,
    mcap: Writer<NoSeek<ChainSink<File>>>,
    sink: ChainSink<File>,
    tick_channel: Option<u16>,
    chain_channel: Option<u16>,
    /// The link that was copied last, and its time, ns.
    last: Option<(LogLink, u64)>,
}

impl<'a> Copy<'a> {
    /// With the header of the old one.
    fn begin(records: &mut Records, file: &File, path: &'a Path) -> Result<Self> {
        let header = match records.next()? {
            Some(Record::Header(header)) => header,
            _ => return refuse("it does not begin with a header"),
        };
        let file = file.try_clone().map_err(|e| file_error(path, &e))?;
        let sink = ChainSink::new(file);
        let options = options().profile(header.profile).library(header.library);
        let mcap = options.create(NoSeek::new(sink.another())).map_err(|e| file_error(path, &e))?;
        let (tick_channel, chain_channel) = (None, None);
        Ok(Self { path, chain: None, mcap, sink, tick_channel, chain_channel, last: None })
    }

    fn take(&mut self, record: Record<'_>, is_at_border: bool) -> Result<()> {
        if let Record::Channel(c) = &record {
            match c.topic.as_str() {
                TICK_TOPIC => self.tick_channel = Some(c.id),
                // the index of a whole file repeats its channels
                CHAIN_TOPIC if self.chain.is_none() => {
                    self.chain_channel = Some(c.id);
                    let chain = ChainWriter::new(self.sink.another(), c.id, LogLink::default());
                    self.chain = Some(chain);
                }
                _ => {}
            }
        }
        if let Record::Message { header, data } = &record
            && Some(header.channel_id) == self.chain_channel
        {
            let link = decode(Kind::LogLink, envelope::unwrap(data))?;
            return self.link(link, header.log_time);
        }
        let in_chunk = matches!(record, Record::Message { .. } | Record::Channel(_));
        copy(record, &mut self.mcap).map_err(|e| file_error(self.path, &e))?;
        if in_chunk && is_at_border {
            self.mcap.flush().map_err(|e| file_error(self.path, &e))?;
        }
        Ok(())
    }

    fn link(&mut self, link: LogLink, time_ns: u64) -> Result<()> {
        let Some(chain) = &mut self.chain else { return Ok(()) };
        if self.last.replace((link, time_ns)).is_none() {
            chain.follow(link.follows);
        }
        chain.write(&mut self.mcap, link, time_ns, self.path)
    }

    fn finish(mut self) -> Result<()> {
        if let Some((last, time_ns)) = self.last.filter(|(last, _)| last.end == LogLink::GOES_ON) {
            self.link(LogLink { end: LogLink::RECOVERED, ..last }, time_ns)?;
        }
        let Self { path, chain, mut mcap, sink, .. } = self;
        match chain {
            Some(chain) => chain.finish(&mut mcap, path),
            None => {
                mcap.finish().map_err(|e| file_error(path, &e))?;
                sink.push().map_err(|e| file_error(path, &e))
            }
        }
    }
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
