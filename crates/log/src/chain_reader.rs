//! Checks the chain of a file while it is read: a record is believed once a link covers it.

use std::collections::VecDeque;
use std::io::{self, Read, Seek, SeekFrom};

use mcap::MAGIC;
use mcap::records::{Record, op};

use hardstand_error::Result;
use hardstand_protocol::{Kind, LogLink, decode};

use crate::chain::{SIGNATURE, Stretch};
use crate::chunk_parser::{HEAD_BYTES, Piece, channel_of, data_of, refuse};
use crate::{CHAIN_TOPIC, envelope};

const SEARCH_BYTES: usize = 64 << 10;
/// Bytes of a link after its signature.
const SIGNATURE_TO_END: u64 = 29;

/// Whether a file has a chain.
#[derive(Clone, Copy)]
enum Declared {
    /// Not read yet.
    Unknown,
    No,
    /// On this channel.
    Yes(u16),
}

/// The chain of a file, as far as it has been read.
pub(crate) struct ChainReader {
    declared: Declared,
    stretch: Stretch,
    /// Records that no link covers yet.
    held: VecDeque<Piece>,
    /// Where the next record begins.
    at: u64,
    /// All bytes before this one are covered: by links, then by the checksums of the end.
    covered: u64,
    /// End of the last link.
    last_end: u64,
    first: Option<LogLink>,
    last: Option<LogLink>,
    links: u64,
    data_ended: bool,
}

impl ChainReader {
    pub(crate) fn new() -> Self {
        let mut stretch = Stretch::new();
        stretch.update(MAGIC);
        Self {
            declared: Declared::Unknown,
            stretch,
            held: VecDeque::new(),
            at: MAGIC.len() as u64,
            covered: 0,
            last_end: 0,
            first: None,
            last: None,
            links: 0,
            data_ended: false,
        }
    }

    /// Takes a record of the file, or all records of a chunk of it. Gives those that can be
    /// believed now to `ready`.
    pub(crate) fn take(
        &mut self,
        opcode: u8,
        body: &[u8],
        piece: Piece,
        ready: &mut VecDeque<Piece>,
    ) -> Result<()> {
        match (self.declared, opcode) {
            (Declared::Unknown, op::HEADER) => {}
            (Declared::Unknown, _) if self.at == MAGIC.len() as u64 => {
                return refuse("it does not begin with a header");
            }
            (Declared::Unknown, _) => self.declared = declared(opcode, &piece),
            _ => {}
        }
        let link = match self.declared {
            Declared::Yes(channel) => link_in(&piece, channel)?,
            Declared::No if piece.entries().any(has_signature) => {
                return refuse("a link of a chain that the file does not declare");
            }
            _ => None,
        };
        match (link, self.declared) {
            (Some(link), _) => {
                self.take_link(link, ready)?;
                ready.push_back(piece);
            }
            (None, Declared::Yes(_)) => {
                self.check_end(opcode, body)?;
                let target = if self.is_closed() { ready } else { &mut self.held };
                target.push_back(piece);
            }
            (None, _) => ready.push_back(piece),
        }
        self.stretch.update(&[opcode]);
        self.stretch.update(&(body.len() as u64).to_le_bytes());
        self.stretch.update(body);
        self.at += (HEAD_BYTES + body.len()) as u64;
        if link.is_some() {
            self.last_end = self.at;
        } else if matches!(opcode, op::DATA_END | op::FOOTER) {
            self.covered = self.at;
        }
        Ok(())
    }

    fn take_link(&mut self, link: LogLink, ready: &mut VecDeque<Piece>) -> Result<()> {
        if self.is_closed() {
            return refuse("a link after the last one");
        }
        if self.stretch.end(link.follows) != link.value {
            return refuse("the checksum of its chain is not that of the bytes");
        }
        if self.last.is_some_and(|last| last.value != link.follows) {
            return refuse("a link that does not follow the one before it");
        }
        if link.end > LogLink::RECOVERED {
            return refuse("a link of an unknown kind");
        }
        ready.append(&mut self.held);
        self.first.get_or_insert(link);
        self.last = Some(link);
        self.links += 1;
        self.covered = self.at;
        Ok(())
    }

    /// After the last link come its index, then the end of the data, then the index of the file.
    fn check_end(&mut self, opcode: u8, body: &[u8]) -> Result<()> {
        let checksum =
            |at: usize| body.get(at..).is_some_and(|crc| crc.len() == 4 && crc != [0; 4]);
        match opcode {
            op::DATA_END if !self.is_closed() => return refuse("it ends without its last link"),
            op::DATA_END => {
                self.data_ended = true;
                if !checksum(0) {
                    return refuse("the end of its data has no checksum");
                }
            }
            op::FOOTER if !checksum(16) => return refuse("its index has no checksum"),
            op::FOOTER if !self.data_ended => return refuse("its data have no end"),
            op::MESSAGE_INDEX | op::FOOTER => {}
            _ if self.is_closed() && !self.data_ended => {
                return refuse("a record after the last link");
            }
            _ => {}
        }
        Ok(())
    }

    /// A link says that it is the last one.
    pub(crate) fn is_closed(&self) -> bool {
        self.last.is_some_and(|link| link.end != LogLink::GOES_ON)
    }

    /// True if the file has a chain, as far as that is known.
    pub(crate) const fn is_declared(&self) -> bool {
        matches!(self.declared, Declared::Yes(_))
    }

    /// The first link and the last one so far.
    pub(crate) const fn ends(&self) -> (Option<LogLink>, Option<LogLink>) {
        (self.first, self.last)
    }

    /// Number of links so far.
    pub(crate) const fn links(&self) -> u64 {
        self.links
    }

    /// All bytes before this one are covered by links, or by the checksums of the file's end.
    pub(crate) const fn covered_bytes(&self) -> u64 {
        self.covered
    }

    /// Where the next record begins.
    pub(crate) const fn at(&self) -> u64 {
        self.at
    }

    /// What the bytes up to `end` say about a file that cannot be read on.
    pub(crate) fn rest(&self, source: &mut (impl Read + Seek), end: u64) -> io::Result<Rest> {
        let has_link = finds_link(source, self.last_end, end)?;
        let mut magic = [0; MAGIC.len()];
        let magic_at = end.saturating_sub(magic.len() as u64);
        source.seek(SeekFrom::Start(magic_at))?;
        let is_magic = source.read_exact(&mut magic).is_ok() && magic == *MAGIC;
        // the file begins with the same bytes
        let was_ended = is_magic && magic_at >= self.last_end.max(HEAD_BYTES as u64);
        Ok(Rest { has_link, was_ended })
    }
}

/// What follows damage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    /// A link, so the recorder had gone on.
    pub(crate) has_link: bool,
    /// The end of a complete file.
    pub(crate) was_ended: bool,
}

/// The first records after the header declare schemas and channels.
fn declared(opcode: u8, piece: &Piece) -> Declared {
    let chain = piece.entries().find_map(|(opcode, body)| match mcap::parse_record(opcode, body) {
        Ok(Record::Channel(c)) if c.topic == CHAIN_TOPIC => Some(c.id),
        _ => None,
    });
    chain.filter(|_| opcode == op::CHUNK).map_or(Declared::No, Declared::Yes)
}

/// The link in a chunk, which holds nothing else.
fn link_in(piece: &Piece, channel: u16) -> Result<Option<LogLink>> {
    let is_of_chain =
        |&(opcode, body): &(u8, &[u8])| opcode == op::MESSAGE && channel_of(body) == Some(channel);
    match piece.entries().find(is_of_chain) {
        None => Ok(None),
        Some((_, body)) if piece.entries().nth(1).is_none() => {
            decode(Kind::LogLink, envelope::unwrap(data_of(body))).map(Some)
        }
        Some(_) => refuse("a link that is not alone in its chunk"),
    }
}

fn has_signature((opcode, body): (u8, &[u8])) -> bool {
    opcode == op::MESSAGE && data_of(body).starts_with(&SIGNATURE)
}

/// Looks for a link in bytes that cannot be read as records. One that breaks off is none.
fn finds_link(source: &mut (impl Read + Seek), from: u64, to: u64) -> io::Result<bool> {
    source.seek(SeekFrom::Start(from))?;
    let mut rest = source.take(to.saturating_sub(from + SIGNATURE_TO_END));
    let (mut block, mut kept) = (vec![0; SEARCH_BYTES], 0);
    loop {
        let read = rest.read(&mut block[kept..])?;
        if read == 0 {
            return Ok(false);
        }
        let all = kept + read;
        if block[..all].windows(SIGNATURE.len()).any(|bytes| bytes == SIGNATURE) {
            return Ok(true);
        }
        // a link may begin in one block and end in the next
        kept = all.min(SIGNATURE.len() - 1);
        block.copy_within(all - kept..all, 0);
    }
}
