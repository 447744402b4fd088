//! The mailbox: CANopen over EtherCAT (CoE), objects by SDO.

use super::al::AlState;
use super::pdo::Pdo;
use super::slave::Slave;
use super::{double, information, word};
use crate::drives::cia402_objects::{Rights, find};

/// Length, address, channel, type and counter.
const HEADER: usize = 6;
/// Types of messages.
const ERROR: u8 = 0;
const COE: u8 = 3;
/// Services of CoE.
const SDO_REQUEST: u16 = 2;
const SDO_RESPONSE: u16 = 3;
pub(super) const SDO_INFORMATION: u16 = 8;
/// Reasons of an error message.
const UNSUPPORTED_PROTOCOL: u16 = 2;
const UNSUPPORTED_SERVICE: u16 = 4;

/// Why an access was refused: the codes of CiA 301.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Abort(pub(super) u32);

/// The codes.
pub(super) mod abort {
    use super::Abort;

    pub(in crate::ethercat) const COMMAND: Abort = Abort(0x0504_0001);
    pub(in crate::ethercat) const UNSUPPORTED: Abort = Abort(0x0601_0000);
    pub(in crate::ethercat) const READ_ONLY: Abort = Abort(0x0601_0002);
    pub(in crate::ethercat) const NO_OBJECT: Abort = Abort(0x0602_0000);
    pub(in crate::ethercat) const NOT_MAPPABLE: Abort = Abort(0x0604_0041);
    pub(in crate::ethercat) const TOO_LONG: Abort = Abort(0x0604_0042);
    pub(in crate::ethercat) const LENGTH: Abort = Abort(0x0607_0010);
    pub(in crate::ethercat) const NO_SUBINDEX: Abort = Abort(0x0609_0011);
    pub(in crate::ethercat) const RANGE: Abort = Abort(0x0609_0030);
    pub(in crate::ethercat) const NOT_NOW: Abort = Abort(0x0800_0022);
}

/// Device type: CiA 402, servo drive.
const DEVICE_TYPE: u32 = 0x0002_0192;

/// The answer to a message of the master.
pub(super) fn answer(slave: &mut Slave, message: &[u8]) -> Option<Vec<u8>> {
    let kind = message.get(HEADER - 1)? & 0xf;
    let body = message.get(HEADER..HEADER + usize::from(word(message, 0)))?;
    let refusal =
        |reason: u16| Some(wrapped(ERROR, &[1_u16, reason].map(u16::to_le_bytes).concat()));
    if kind != COE {
        // an error of the master is not answered by another one
        return if kind == ERROR { None } else { refusal(UNSUPPORTED_PROTOCOL) };
    }
    match word(body, 0) >> 12 {
        SDO_REQUEST => Some(sdo(slave, body.get(2..)?)),
        SDO_INFORMATION => Some(coe(SDO_INFORMATION, &information::answer(slave, body.get(2..)?))),
        _ => refusal(UNSUPPORTED_SERVICE),
    }
}

/// A message with its header.
fn wrapped(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut out = (body.len() as u16).to_le_bytes().to_vec();
    out.extend([0, 0, 0, kind]);
    out.extend(body);
    out
}

fn coe(service: u16, data: &[u8]) -> Vec<u8> {
    wrapped(COE, &[&(service << 12).to_le_bytes(), data].concat())
}

fn sdo(slave: &mut Slave, request: &[u8]) -> Vec<u8> {
    let (index, sub) = (word(request, 1), request.get(3).copied().unwrap_or(0));
    let head = |command: u8| [&[command][..], &index.to_le_bytes(), &[sub]].concat();
    match transfer(slave, request, index, sub) {
        Ok(None) => coe(SDO_RESPONSE, &[head(0x60), vec![0; 4]].concat()),
        Ok(Some(value)) if value.len() <= 4 => {
            let mut data = value.clone();
            data.resize(4, 0);
            let unused = 4 - value.len() as u8;
            coe(SDO_RESPONSE, &[head(0x43 | unused << 2), data].concat())
        }
        Ok(Some(value)) => {
            let size = (value.len() as u32).to_le_bytes().to_vec();
            coe(SDO_RESPONSE, &[head(0x41), size, value].concat())
        }
        Err(Abort(code)) => coe(SDO_REQUEST, &[head(0x80), code.to_le_bytes().to_vec()].concat()),
    }
}

/// Does what is asked: the value of an upload, none for a download.
fn transfer(
    slave: &mut Slave,
    request: &[u8],
    index: u16,
    sub: u8,
) -> Result<Option<Vec<u8>>, Abort> {
    let command = request.first().copied().unwrap_or(0);
    let complete_access = command & 0x10 != 0;
    match command >> 5 {
        1 | 2 if complete_access => Err(abort::UNSUPPORTED),
        2 => read(slave, index, sub).map(Some),
        1 => {
            let (begin, length) = match (command & 2 != 0, command & 1 != 0) {
                (true, true) => (4, usize::from(4 - (command >> 2 & 3))),
                (true, false) => (4, 4),
                (false, _) => (8, double(request, 4) as usize),
            };
            // what does not fit into one message needs segments, which no object here does
            let rest = request.get(begin..).and_then(|rest| rest.get(..length));
            write(slave, index, sub, rest.ok_or(abort::LENGTH)?).map(|()| None)
        }
        _ => Err(abort::COMMAND),
    }
}

/// Bytes of an object.
pub(super) fn read(slave: &Slave, index: u16, sub: u8) -> Result<Vec<u8>, Abort> {
    let identity = &slave.identity;
    let double = |value: u32| Some(value.to_le_bytes().to_vec());
    let found = match (index, sub) {
        (0x1000, 0) => double(DEVICE_TYPE),
        (0x1001, 0) => Some(vec![u8::from(slave.drive.get(0x603f, 0, &slave.now) != 0)]),
        (0x1008, 0) => Some(identity.name.as_bytes().to_vec()),
        (0x100a, 0) => Some(env!("CARGO_PKG_VERSION").as_bytes().to_vec()),
        (0x1018 | 0x1c00, 0) => Some(vec![4]),
        (0x1018, 1) => double(identity.vendor),
        (0x1018, 2) => double(identity.product),
        (0x1018, 3) => double(identity.revision),
        (0x1018, 4) => double(identity.alias.into()),
        (0x1c00, 1..=4) => Some(vec![sub]),
        (0x1600 | 0x1a00, 0) => pdo(slave, index).get(0).map(|count| vec![count as u8]),
        (0x1600 | 0x1a00, n) => pdo(slave, index).get(n).and_then(double),
        (0x1c12 | 0x1c13, 0) => Some(vec![u8::from(pdo(slave, index).assigned)]),
        (0x1c12, 1) => Some(0x1600_u16.to_le_bytes().to_vec()),
        (0x1c13, 1) => Some(0x1a00_u16.to_le_bytes().to_vec()),
        _ => find(index, sub).map(|entry| {
            let value = slave.drive.get(index, sub, &slave.now).to_le_bytes();
            value[..entry.kind.bytes()].to_vec()
        }),
    };
    found.ok_or_else(|| missing(index))
}

/// Why there is no such entry.
fn missing(index: u16) -> Abort {
    let known = information::COMMUNICATION.iter().any(|object| object.index == index);
    let known = known || find(index, 0).is_some();
    if known { abort::NO_SUBINDEX } else { abort::NO_OBJECT }
}

fn pdo(slave: &Slave, index: u16) -> &Pdo {
    &slave.pdos[usize::from(matches!(index, 0x1a00 | 0x1c13))]
}

fn write(slave: &mut Slave, index: u16, sub: u8, data: &[u8]) -> Result<(), Abort> {
    if matches!(index, 0x1600 | 0x1a00 | 0x1c12 | 0x1c13) {
        if slave.al.state != AlState::PreOp {
            return Err(abort::NOT_NOW);
        }
        return map(slave, index, sub, data);
    }
    let Some(entry) = find(index, sub) else {
        return Err(read(slave, index, sub).map_or_else(|missing| missing, |_| abort::READ_ONLY));
    };
    if !matches!(entry.rights, Rights::Output | Rights::Setting) {
        return Err(abort::READ_ONLY);
    }
    if data.len() != entry.kind.bytes() {
        return Err(abort::LENGTH);
    }
    let value = entry.kind.value(data);
    slave.drive.set(index, sub, value).or(Err(abort::RANGE))
}

/// Changes a mapping, or its assignment to the SyncManager, of which there is one.
fn map(slave: &mut Slave, index: u16, sub: u8, data: &[u8]) -> Result<(), Abort> {
    let pdo = &mut slave.pdos[usize::from(matches!(index, 0x1a00 | 0x1c13))];
    let only = if pdo.is_output { 0x1600 } else { 0x1a00 };
    match (index, sub, data) {
        (0x1c12 | 0x1c13, 0, [count]) if *count <= 1 => pdo.assigned = *count == 1,
        (0x1c12 | 0x1c13, 1, [_, _]) if word(data, 0) == only => {}
        (0x1c12 | 0x1c13, 0, [_]) | (0x1c12 | 0x1c13, 1, [_, _]) => return Err(abort::RANGE),
        (0x1c12 | 0x1c13, 2.., _) => return Err(abort::NO_SUBINDEX),
        (0x1600 | 0x1a00, 0, [count]) => return pdo.set(0, (*count).into()),
        (0x1600 | 0x1a00, 1.., [_, _, _, _]) => return pdo.set(sub, double(data, 0)),
        _ => return Err(abort::LENGTH),
    }
    Ok(())
}
