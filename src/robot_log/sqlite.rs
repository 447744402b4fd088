//! Tables of an SQLite file, without SQLite: what a finished bag needs, and no more.
//!
//! The format is that of <https://www.sqlite.org/fileformat2.html>; "(1.6)" below are its
//! sections. Tables with row numbers are read in the order of these. A length is believed once its
//! bytes are there, a page is read once, and rows have no more bytes than the file.

use std::borrow::Cow;

use hardstand_error::{Error, ErrorKind, Result};

const MAGIC: &[u8] = b"SQLite format 3\0";
/// The head of the file, on its first page.
const HEAD: usize = 100;
/// Kinds of pages of tables.
const INTERIOR: u8 = 5;
const LEAF: u8 = 13;
/// The table of tables.
const SCHEMA: u32 = 1;

/// The bytes of a file.
pub(super) struct Database<'a> {
    name: &'a str,
    bytes: &'a [u8],
    page_bytes: usize,
    /// Bytes of a page that hold content.
    usable: usize,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    /// Text or a blob.
    Bytes(&'a [u8]),
    Other,
}

impl Value<'_> {
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Bytes(bytes) = self { std::str::from_utf8(bytes).ok() } else { None }
    }

    pub(super) const fn integer(&self) -> Option<i64> {
        if let Self::Integer(x) = self { Some(*x) } else { None }
    }
}

impl<'a> Database<'a> {
    /// The file `name` with these bytes (1.3).
    ///
    /// # Errors
    /// [`ErrorKind::Input`] if it is no SQLite file whose text is UTF-8.
    pub(super) fn open(name: &'a str, bytes: &'a [u8]) -> Result<Self> {
        let mut out = Self { name, bytes, page_bytes: 0, usable: 0 };
        if !bytes.starts_with(MAGIC) || bytes.len() < HEAD {
            return Err(out.error("it is no SQLite file"));
        }
        out.page_bytes = match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => 65_536,
            n => n.into(),
        };
        out.usable = out.page_bytes.saturating_sub(bytes[20].into());
        if !out.page_bytes.is_power_of_two() || out.usable < 480 {
            return Err(out.damaged(&format!("pages of {} bytes", out.page_bytes)));
        }
        if bytes[56..60] != [0, 0, 0, 1] {
            return Err(out.error("its text is not UTF-8"));
        }
        Ok(out)
    }

    pub(super) fn error(&self, text: &str) -> Error {
        Error::new(ErrorKind::Input, format!("{}: {text}", self.name))
    }

    fn damaged(&self, what: &str) -> Error {
        self.error(&format!("the SQLite file is damaged: {what}"))
    }

    /// Gives `visit` the columns `wanted` of each row of a table. The number of a row stands for
    /// its key.
    ///
    /// # Errors
    /// [`ErrorKind::Input`] for a table or a column that is not there, a damaged file, and those of
    /// `visit`.
    pub(super) fn rows<const N: usize>(
        &self,
        table: &str,
        wanted: [&str; N],
        mut visit: impl FnMut([Value<'_>; N]) -> Result<()>,
    ) -> Result<()> {
        let mut found = None;
        self.walk(SCHEMA, |_, row| {
            let [Value::Bytes(b"table"), name, _, Value::Integer(root), sql, ..] = row else {
                return Ok(());
            };
            if name.text() == Some(table) {
                found = Some((u32::try_from(*root), columns_of(sql.text().unwrap_or_default())));
            }
            Ok(())
        })?;
        let Some((Ok(root), columns)) = found else {
            return Err(self.error(&format!("there is no table {table:?}")));
        };
        let mut places = [(0, false); N];
        for (place, name) in places.iter_mut().zip(wanted) {
            let at = columns.iter().position(|column| column.name == name);
            let at = at.ok_or_else(|| self.error(&format!("{table} has no column {name:?}")))?;
            *place = (at, columns[at].is_key);
        }
        self.walk(root, |number, row| {
            visit(places.map(|(at, is_key)| match row.get(at) {
                _ if is_key => Value::Integer(number),
                value => value.copied().unwrap_or(Value::Null),
            }))
        })
    }

    /// All rows of the table whose first page is `root` (1.6).
    fn walk(
        &self,
        root: u32,
        mut visit: impl FnMut(i64, &[Value<'_>]) -> Result<()>,
    ) -> Result<()> {
        let mut seen = vec![false; self.bytes.len() / self.page_bytes + 1];
        let mut left = self.bytes.len();
        let mut open = vec![root];
        while let Some(number) = open.pop() {
            let page = self.page(number)?;
            if std::mem::replace(&mut seen[number as usize], true) {
                return Err(self.damaged(&format!("page {number} is in a table twice")));
            }
            let short = || self.damaged(&format!("page {number}"));
            let head = if number == 1 { HEAD } else { 0 };
            let kind = page[head];
            let cells = be16(page, head + 3).ok_or_else(short)?;
            let pointers = head + if kind == INTERIOR { 12 } else { 8 };
            let cell = |i: usize| be16(page, pointers + 2 * i).and_then(|at| page.get(at..));
            match kind {
                INTERIOR => {
                    open.push(be32(page, head + 8).ok_or_else(short)?);
                    for i in (0..cells).rev() {
                        let child = cell(i).and_then(|cell| be32(cell, 0));
                        open.push(child.ok_or_else(short)?);
                    }
                }
                LEAF => {
                    for i in 0..cells {
                        let (row, payload) = self.payload(cell(i).ok_or_else(short)?, &mut left)?;
                        visit(row, &record(&payload).ok_or_else(short)?)?;
                    }
                }
                _ => return Err(self.damaged(&format!("page {number} is of the kind {kind}"))),
            }
            if open.len() > seen.len() {
                return Err(short());
            }
        }
        Ok(())
    }

    fn page(&self, number: u32) -> Result<&'a [u8]> {
        let begin = (number as usize).checked_sub(1).map(|before| before * self.page_bytes);
        let page = begin.and_then(|begin| self.bytes.get(begin..begin + self.page_bytes));
        page.ok_or_else(|| self.damaged(&format!("page {number} is not in the file")))
    }

    /// Number and bytes of a row, of which what does not fit on its page is on others (1.6, 1.7).
    fn payload(&self, cell: &'a [u8], left: &mut usize) -> Result<(i64, Cow<'a, [u8]>)> {
        let short = || self.damaged("a row is cut off");
        let (length, rest) = varint(cell).ok_or_else(short)?;
        let (number, rest) = varint(rest).ok_or_else(short)?;
        let length = usize::try_from(length).ok().filter(|length| length <= left);
        let length = length.ok_or_else(|| self.damaged("its rows are longer than the file"))?;
        *left -= length;
        let here = self.bytes_on_page(length);
        let mut out = Cow::Borrowed(rest.get(..here).ok_or_else(short)?);
        let mut next = if here < length { be32(rest, here).ok_or_else(short)? } else { 0 };
        while out.len() < length {
            let page = self.page(next)?;
            let more = (length - out.len()).min(self.usable - 4);
            out.to_mut().extend(&page[4..4 + more]);
            next = be32(page, 0).ok_or_else(short)?;
        }
        Ok((number, out))
    }

    const fn bytes_on_page(&self, length: usize) -> usize {
        let most = self.usable - 35;
        if length <= most {
            return length;
        }
        let least = (self.usable - 12) * 32 / 255 - 23;
        let fitting = least + (length - least) % (self.usable - 4);
        if fitting <= most { fitting } else { least }
    }
}

/// The values of a row (2.1).
fn record(payload: &[u8]) -> Option<Vec<Value<'_>>> {
    let (head, rest) = varint(payload)?;
    let head = usize::try_from(head).ok()?;
    let mut kinds = rest.get(..head.checked_sub(payload.len() - rest.len())?)?;
    let mut body = payload.get(head..)?;
    let mut out = Vec::new();
    while !kinds.is_empty() {
        let kind;
        (kind, kinds) = varint(kinds)?;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            _ => usize::try_from(kind.checked_sub(12)? / 2).ok()?,
        };
        let bytes;
        (bytes, body) = body.split_at_checked(length)?;
        out.push(match kind {
            0 => Value::Null,
            1..=6 => Value::Integer(signed(bytes)),
            7 => Value::Other,
            8 | 9 => Value::Integer(kind - 8),
            _ => Value::Bytes(bytes),
        });
    }
    Some(out)
}

/// A whole number of one to eight bytes, the highest first.
fn signed(bytes: &[u8]) -> i64 {
    let first = if bytes[0] > 127 { -1 } else { 0 };
    bytes.iter().fold(first, |x, byte| x << 8 | i64::from(*byte))
}

/// A number of one to nine bytes, and what follows it.
fn varint(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut out = 0;
    for (i, byte) in bytes.iter().take(9).enumerate() {
        if i == 8 {
            return Some((out << 8 | i64::from(*byte), &bytes[9..]));
        }
        out = out << 7 | i64::from(byte & 0x7f);
        if *byte < 128 {
            return Some((out, &bytes[i + 1..]));
        }
    }
    None
}

fn be16(bytes: &[u8], at: usize) -> Option<usize> {
    let [a, b] = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_be_bytes([a, b]).into())
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

struct Column {
    name: String,
    /// It is the number of the row (2.1: such a column is empty in the file).
    is_key: bool,
}

/// The columns of a table, from the command that made it.
fn columns_of(sql: &str) -> Vec<Column> {
    let inside = sql.split_once('(').map_or("", |(_, inside)| inside);
    let mut depth = 0;
    let parts = inside.split(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    });
    let quotes = |c| matches!(c, '"' | '\'' | '`' | '[' | ']');
    let column = |part: &str| {
        let mut words = part.split_whitespace();
        let name = words.next()?.replace(quotes, "");
        let kind = words.collect::<Vec<_>>().join(" ").to_ascii_uppercase();
        Some(Column { name, is_key: kind.starts_with("INTEGER PRIMARY KEY") })
    };
    parts.filter_map(column).collect()
}
