//! What a file is, by its first records.

use std::fs::File;

use mcap::records::Record;

use crate::RunInfo;
use crate::records::{Records, Source};

/// What a file is.
#[derive(Debug)]
pub(crate) enum Head {
    /// It holds nothing.
    Empty,
    /// A log of Hardstand, of any version.
    Log(Box<RunInfo>),
    /// Something else: why.
    Foreign(String),
}

/// Reads up to what a log says about its run, which comes before the first message.
pub(crate) fn read_head(file: File) -> Head {
    match file.metadata() {
        Ok(metadata) if metadata.len() == 0 => return Head::Empty,
        Ok(_) => {}
        Err(e) => return Head::Foreign(e.to_string()),
    }
    head_of(Box::new(file))
}

fn head_of(source: Box<dyn Source>) -> Head {
    let (mut records, mut info) = (Records::unchecked(source), RunInfo::default());
    let why = loop {
        match records.next() {
            Ok(Some(Record::Message { .. })) | Ok(None) => {
                break "it is no log of Hardstand".into();
            }
            Ok(Some(record)) => info.take(&record),
            Err(e) => break e.to_string(),
        }
        if !info.robot.is_empty() && !info.scenario.is_empty() {
            break String::new();
        }
    };
    // the metadata come first: a log that breaks off after them is one
    if info.version.is_empty() { Head::Foreign(why) } else { Head::Log(Box::new(info)) }
}
