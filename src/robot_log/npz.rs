//! NumPy's `npz`: a zip archive of `npy` arrays.
//!
//! Sources: APPNOTE.TXT 6.3.10 of PKWARE (the central directory), and NumPy's
//! `lib/format.py` (NPY 1.0 to 3.0).

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use flate2::Crc;
use flate2::read::DeflateDecoder;

use hardstand_error::{Error, ErrorKind, Result};

use super::whole_file::bytes_of;
use super::{BYTES_MAX, Columns};

/// Signatures of the end of the central directory, and of one entry.
const END: [u8; 4] = [0x50, 0x4b, 5, 6];
const ENTRY: [u8; 4] = [0x50, 0x4b, 1, 2];
const END_BYTES: usize = 22;
const NPY: &[u8] = b"\x93NUMPY";

/// Reads a file as [`parse_npz`] does.
///
/// # Errors
/// Those of [`parse_npz`]; [`ErrorKind::File`] if it cannot be read.
pub(super) fn read_npz(file: &Path) -> Result<Columns> {
    parse_npz(&file.display().to_string(), &bytes_of(file)?)
}

/// Reads the bytes of an archive that is called `name`: all arrays of real numbers with one or two
/// axes and the most rows. An array of one axis is a column of its name, column `i` of an array `a`
/// of two axes is called `a[i]`. The others are listed in [`Columns::skipped`].
///
/// # Errors
/// [`ErrorKind::Input`] for what is no archive, is damaged or is too large for a table, and for
/// numbers that are not finite, with row and column.
pub fn parse_npz(name: &str, bytes: &[u8]) -> Result<Columns> {
    let mut out = Columns { file: name.into(), row_word: "row", ..Columns::default() };
    let refused = |text: String| Error::new(ErrorKind::Input, format!("{name}: {text}"));
    let entries = entries(bytes).ok_or_else(|| refused("no zip archive of arrays".into()))?;
    let mut names = BTreeSet::new();
    if let Some((twice, _)) = entries.iter().find(|(entry, _)| !names.insert(entry.as_str())) {
        let text = format!("two arrays are called {twice:?}; give each a name of its own");
        return Err(refused(text));
    }
    let mut left = BYTES_MAX;
    let mut arrays = Vec::new();
    for (entry, at) in entries {
        let data = unpacked(bytes, at, left).map_err(|why| refused(format!("{entry}: {why}")))?;
        left -= data.len() as u64;
        let key = entry.strip_suffix(".npy").unwrap_or(&entry).to_string();
        match array(&data) {
            Ok(array) => arrays.push((key, array)),
            Err(why) => out.skipped.push(format!("array {key}: {why}")),
        }
    }
    let rows = arrays.iter().map(|(_, array)| array.rows).max().unwrap_or_default();
    let columns = arrays.iter().map(|(_, array)| array.width).sum();
    out.check_size(rows, columns)?;
    out.rows = (0..rows as u64).collect();
    for (key, array) in arrays {
        if array.rows == rows {
            add(&mut out, &key, &array)?;
        } else {
            let text = format!("array {key}: {} rows, others have {rows}", array.rows);
            out.skipped.push(text);
        }
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = out.names.iter().find(|name| !names.insert(name.as_str())) {
        let text = format!("two columns are called {twice:?}; give one of the arrays another name");
        return Err(refused(text));
    }
    Ok(out)
}

fn add(out: &mut Columns, key: &str, array: &Array) -> Result<()> {
    let (rows, width) = (array.rows, array.width);
    for column in 0..width {
        let name = if array.flat { key.to_string() } else { format!("{key}[{column}]") };
        let values: Vec<f64> = (0..rows).map(|row| array.at(row, column)).collect();
        if let Some(row) = values.iter().position(|x| !x.is_finite()) {
            let text = format!("{} is not finite", values[row]);
            return Err(out.cell_error(row, &name, &text));
        }
        out.names.push(name);
        out.values.push(values);
    }
    Ok(())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?)).ok()
}

/// Names of the entries of an archive, and where the directory describes them; `None` if it has no
/// central directory.
fn entries(bytes: &[u8]) -> Option<Vec<(String, usize)>> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let end = (0..=last).rev().find(|&at| bytes[at..].starts_with(&END))?;
    let (count, mut at) = (u16_at(bytes, end + 10)?, u32_at(bytes, end + 16)?);
    let mut out = Vec::new();
    for _ in 0..count {
        if !bytes.get(at..)?.starts_with(&ENTRY) {
            return None;
        }
        let lengths = [28, 30, 32].map(|o| u16_at(bytes, at + o));
        let [name, extra, comment] = [lengths[0]?, lengths[1]?, lengths[2]?];
        let text = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned();
        out.push((text, at));
        at += 46 + name + extra + comment;
    }
    Some(out)
}

/// The data of the entry that is described at `at`, of at most `bytes_max` bytes.
fn unpacked(bytes: &[u8], at: usize, bytes_max: u64) -> std::result::Result<Vec<u8>, &'static str> {
    let short = "the archive ends early";
    let [packed, size, local] = [20, 24, 42].map(|o| u32_at(bytes, at + o));
    let (packed, size) = (packed.ok_or(short)?, size.ok_or(short)?);
    let local = local.ok_or(short)?;
    if [packed, size, local].contains(&(u32::MAX as usize)) {
        return Err("an array of 4 GiB or more (ZIP64)");
    }
    // before anything is unpacked; what is longer than it says is cut off there
    if size.max(packed) as u64 > bytes_max {
        return Err("with this array the archive is longer than 4 GiB, unpacked");
    }
    let [name, extra] = [26, 28].map(|o| u16_at(bytes, local + o));
    let begin = local + 30 + name.ok_or(short)? + extra.ok_or(short)?;
    let data = bytes.get(begin..begin + packed).ok_or(short)?;
    let plain = match u16_at(bytes, at + 10) {
        Some(0) => data.to_vec(),
        Some(8) => {
            let mut out = Vec::new();
            let read = DeflateDecoder::new(data).take(size as u64).read_to_end(&mut out);
            read.map(|_| out).map_err(|_damaged| "the packed data is damaged")?
        }
        _ => return Err("a way of packing that is neither none nor deflate"),
    };
    let mut crc = Crc::new();
    crc.update(&plain);
    if u32_at(bytes, at + 16) != Some(crc.sum() as usize) {
        return Err("its checksum is another one: the file is damaged; copy it again");
    }
    Ok(plain)
}

struct Array {
    rows: usize,
    width: usize,
    /// One axis.
    flat: bool,
    fortran: bool,
    values: Vec<f64>,
}

impl Array {
    fn at(&self, row: usize, column: usize) -> f64 {
        let at = if self.fortran { column * self.rows + row } else { row * self.width + column };
        self.values[at]
    }
}

fn array(npy: &[u8]) -> std::result::Result<Array, String> {
    let short = || "it ends early".to_string();
    if !npy.starts_with(NPY) {
        return Err("not an npy array".into());
    }
    let major = *npy.get(6).ok_or_else(short)?;
    let (length, begin) = match major {
        1 => (u16_at(npy, 8).ok_or_else(short)?, 10),
        _ => (u32_at(npy, 8).ok_or_else(short)?, 12),
    };
    let header = npy.get(begin..begin + length).ok_or_else(short)?;
    let header = String::from_utf8_lossy(header);
    let field = |key: &str| header.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim());
    let kind = field("descr").and_then(|rest| rest.split('\'').nth(1)).unwrap_or_default();
    let fortran = field("fortran_order").is_some_and(|rest| rest.starts_with("True"));
    let shape = field("shape").and_then(|r| r.strip_prefix('(')?.split_once(')'));
    let shape = shape.map(|(inside, _)| inside).ok_or("its shape is missing")?;
    let sizes = shape.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::parse);
    let sizes: Vec<usize> = sizes
        .collect::<std::result::Result<_, _>>()
        .map_err(|_no_number| "its shape is damaged")?;
    let (rows, width, flat) = match sizes[..] {
        [rows] => (rows, 1, true),
        [rows, width] => (rows, width, false),
        _ => return Err(format!("it has {} axes; one or two can be read", sizes.len())),
    };
    if rows == 0 || width == 0 {
        return Err(format!("it is empty: {rows} × {width} numbers"));
    }
    let values = numbers(kind, npy.get(begin + length..).unwrap_or_default())?;
    if rows.checked_mul(width) != Some(values.len()) {
        return Err(format!("{rows} × {width} numbers, but {} in the file", values.len()));
    }
    Ok(Array { rows, width, flat, fortran, values })
}

fn numbers(kind: &str, data: &[u8]) -> std::result::Result<Vec<f64>, String> {
    fn each<const N: usize>(data: &[u8], of: fn([u8; N]) -> f64) -> Vec<f64> {
        data.as_chunks::<N>().0.iter().map(|chunk| of(*chunk)).collect()
    }
    Ok(match kind {
        "<f8" => each(data, f64::from_le_bytes),
        "<f4" => each(data, |b| f64::from(f32::from_le_bytes(b))),
        "<i8" => each(data, |b| i64::from_le_bytes(b) as f64),
        "<u8" => each(data, |b| u64::from_le_bytes(b) as f64),
        "<i4" => each(data, |b| f64::from(i32::from_le_bytes(b))),
        "<u4" => each(data, |b| f64::from(u32::from_le_bytes(b))),
        _ => return Err(format!("its type is {kind:?}; it must be real numbers of 4 or 8 bytes")),
    })
}
