//! What a slave says about its objects: the service SDO information.

use super::coe::{Abort, abort, read};
use super::pdo::ENTRIES_MAX;
use super::slave::Slave;
use super::word;
use crate::drives::cia402_objects::{ENTRIES, Rights};

/// Numbers of data types and kinds of objects.
const VISIBLE_STRING: u16 = 9;
const U8: u16 = 5;
const U16: u16 = 6;
const U32: u16 = 7;
const VARIABLE: u8 = 7;
const ARRAY: u8 = 8;
/// Access rights: reading, or writing too, in PREOP, SAFEOP and OP; mapping to outputs or inputs.
const READ: u16 = 0x07;
const WRITE: u16 = 0x38;
const WRITE_PREOP: u16 = 0x08;
const TO_OUTPUTS: u16 = 0x40;
const TO_INPUTS: u16 = 0x80;

/// An object of the communication profile.
pub(super) struct Object {
    pub(super) index: u16,
    /// Of its entries, or of the only one.
    kind: u16,
    subs: u8,
    access: u16,
    name: &'static str,
}

const fn object(index: u16, kind: u16, subs: u8, access: u16, name: &'static str) -> Object {
    Object { index, kind, subs, access, name }
}

const ENTRIES_OF_PDO: u8 = ENTRIES_MAX as u8;

/// The objects besides those of the drive.
pub(super) const COMMUNICATION: [Object; 10] = [
    object(0x1000, U32, 0, READ, "Device type"),
    object(0x1001, U8, 0, READ, "Error register"),
    object(0x1008, VISIBLE_STRING, 0, READ, "Device name"),
    object(0x100a, VISIBLE_STRING, 0, READ, "Software version"),
    object(0x1018, U32, 4, READ, "Identity"),
    object(0x1600, U32, ENTRIES_OF_PDO, READ | WRITE_PREOP, "Outputs"),
    object(0x1a00, U32, ENTRIES_OF_PDO, READ | WRITE_PREOP, "Inputs"),
    object(0x1c00, U8, 4, READ, "SyncManager type"),
    object(0x1c12, U16, 1, READ | WRITE_PREOP, "SyncManager 2 assignment"),
    object(0x1c13, U16, 1, READ | WRITE_PREOP, "SyncManager 3 assignment"),
];

/// The answer to a request, without the header of CoE.
pub(super) fn answer(slave: &Slave, request: &[u8]) -> Vec<u8> {
    let (operation, data) = (request.first().copied().unwrap_or(0), request.get(4..));
    let data = data.unwrap_or_default();
    let (index, sub) = (word(data, 0), data.get(2).copied().unwrap_or(0));
    let found = match operation & 0x7f {
        1 => list(index).map(|list| (2, list)),
        3 => description(index).map(|description| (4, description)),
        5 => entry(slave, index, sub).map(|entry| (6, entry)),
        _ => Err(abort::UNSUPPORTED),
    };
    let (operation, data) = found.unwrap_or_else(|Abort(code)| (7, code.to_le_bytes().to_vec()));
    // no fragment follows
    [vec![operation, 0, 0, 0], data].concat()
}

/// The indices of all objects, or how many there are in each list.
fn list(kind: u16) -> Result<Vec<u8>, Abort> {
    let mut all: Vec<u16> = COMMUNICATION.iter().map(|object| object.index).collect();
    all.extend(ENTRIES.iter().filter(|entry| entry.sub == 0).map(|entry| entry.index));
    let head = kind.to_le_bytes().to_vec();
    let words = match kind {
        0 => vec![all.len() as u16, 0, 0, 0, 0],
        1 => all,
        _ => return Err(abort::UNSUPPORTED),
    };
    Ok([head, words.into_iter().flat_map(u16::to_le_bytes).collect()].concat())
}

fn description(index: u16) -> Result<Vec<u8>, Abort> {
    let communication = COMMUNICATION.iter().find(|object| object.index == index);
    let (kind, subs, name) = match communication {
        Some(object) => (object.kind, object.subs, object.name),
        None => {
            let mut entries = ENTRIES.iter().filter(|entry| entry.index == index);
            let first = entries.next().ok_or(abort::NO_OBJECT)?;
            let last = entries.next_back();
            let kind = last.map_or(first.kind, |last| last.kind).code();
            (kind, last.map_or(0, |last| last.sub), first.name)
        }
    };
    let code = if subs == 0 { VARIABLE } else { ARRAY };
    let numbers = [index.to_le_bytes(), kind.to_le_bytes(), [subs, code]].concat();
    Ok([numbers, name.as_bytes().to_vec()].concat())
}

fn entry(slave: &Slave, index: u16, sub: u8) -> Result<Vec<u8>, Abort> {
    let bytes = read(slave, index, sub)?.len() as u16;
    let communication = COMMUNICATION.iter().find(|object| object.index == index);
    let own = ENTRIES.iter().find(|entry| entry.index == index && entry.sub == sub);
    let (kind, access, name) = match (communication, own) {
        // how many entries an object has
        (Some(object), _) if object.subs > 0 && sub == 0 => (U8, object.access, object.name),
        (Some(object), _) => (object.kind, object.access, object.name),
        (None, Some(entry)) => {
            let access = match entry.rights {
                Rights::Constant => READ,
                Rights::Setting => READ | WRITE,
                Rights::Input => READ | TO_INPUTS,
                Rights::Output => READ | WRITE | TO_OUTPUTS | TO_INPUTS,
            };
            (entry.kind.code(), access, entry.name)
        }
        (None, None) => return Err(abort::NO_OBJECT),
    };
    let words = [kind, 8 * bytes, access].map(u16::to_le_bytes).concat();
    let head = [&index.to_le_bytes()[..], &[sub, 0]].concat();
    Ok([head, words, name.as_bytes().to_vec()].concat())
}
