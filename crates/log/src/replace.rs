//! What a new log may replace: the log of an earlier run, in all its files, and nothing else.

use std::ffi::OsString;
use std::fs::{self, File, FileType, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result, irregular};
use rustix::fs::OFlags;

use crate::head::{Head, read_head};
use crate::segments::{first_of, segment_number};
use crate::writer::file_error;
use crate::{RunInfo, Stamp};

/// A new file, locked.
pub(crate) struct Begun {
    pub(crate) file: File,
    /// Where it is.
    pub(crate) path: PathBuf,
    /// What it shall replace.
    pub(crate) pending: Option<Pending>,
}

/// The files of an earlier run, until they are replaced.
#[derive(Debug)]
pub(crate) struct Pending {
    first: Stamp,
    further: Vec<Stamp>,
}

impl Pending {
    pub(crate) fn path(&self) -> &Path {
        self.first.path()
    }

    pub(crate) fn into_path(self) -> PathBuf {
        self.first.path().into()
    }

    /// Puts `file` in their place, as long as they are still the files that were looked at.
    pub(crate) fn replace_with(&self, file: &Path) -> io::Result<()> {
        let first = self.path();
        // the inode of a removed file may be that of a new one: the length counts, too
        if Stamp::at(first).is_ok_and(|now| now != self.first) {
            return Err(io::Error::other("another file took its place"));
        }
        for stamp in self.further.iter().rev() {
            match Stamp::at(stamp.path()) {
                Ok(now) if now == *stamp => fs::remove_file(stamp.path())?,
                _ => {} // it is not there any more, or not the one that was looked at
            }
        }
        fs::rename(file, first)
    }
}

/// Begins the file that shall become the log `path`.
pub(crate) fn begin(path: &Path) -> Result<Begun> {
    refuse_special(path)?;
    // a link stays a link
    let place = path.canonicalize().unwrap_or_else(|_| path.into());
    let mut name = OsString::from(".");
    name.push(place.file_name().ok_or_else(|| special(path, "not the name of a file"))?);
    name.push(".tmp");
    let temporary = place.with_file_name(name);
    let file = lock_temporary(path, &temporary)?;
    let begun = earlier_run(path, &place).and_then(|pending| {
        if pending.is_some() {
            return Ok(Begun { file, path: temporary.clone(), pending });
        }
        fs::rename(&temporary, &place).map_err(|e| file_error(path, &e))?;
        Ok(Begun { file, path: place.clone(), pending })
    });
    if begun.is_err() {
        let _removed = fs::remove_file(&temporary).is_ok();
    }
    begun
}

/// The files of an earlier run in the place of this one; refuses what is not of one.
fn earlier_run(path: &Path, place: &Path) -> Result<Option<Pending>> {
    // a further file of a run is locked with the first one
    if let Some(first) = first_of(path).filter(|first| first.exists()) {
        open_unlocked(&first)?;
    }
    let parts = further_files(path);
    if !place.exists() {
        return match parts.first() {
            None => Ok(None),
            Some(part) => Err(foreign(part, &format!("there is no {}", path.display()))),
        };
    }
    let info = match read_head(open_unlocked(path)?) {
        Head::Log(info) => Some(*info),
        Head::Empty => None,
        Head::Foreign(why) => return Err(foreign(path, &why)),
    };
    let mut further = Vec::new();
    for part in &parts {
        refuse_special(part)?;
        let why = match (read_head(open_unlocked(part)?), &info) {
            (Head::Log(of), Some(info))
                if *of == (RunInfo { run_id: of.run_id, ..info.clone() }) =>
            {
                further.push(Stamp::at(part).map_err(|e| file_error(part, &e))?);
                continue;
            }
            (Head::Foreign(why), _) => why,
            _ => format!("{} is of another run", path.display()),
        };
        return Err(foreign(part, &why));
    }
    let first = Stamp::at(place).map_err(|e| file_error(path, &e))?;
    Ok(Some(Pending { first, further }))
}

/// The further files of a run that begins in `first`, by their names and in their order.
fn further_files(first: &Path) -> Vec<PathBuf> {
    let folder = first.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // a folder that cannot be read may still be written to
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(first.with_file_name(entry.ok()?.file_name())));
    let mut found: Vec<(usize, PathBuf)> =
        paths.filter_map(|path| Some((segment_number(first, &path)?, path))).collect();
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

/// Opens a file to read it; refuses one in which another process records.
fn open_unlocked(path: &Path) -> Result<File> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let file = file.map_err(|e| file_error(path, &e))?;
    refuse_type(path, file.metadata().map_err(|e| file_error(path, &e))?.file_type())?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Err(in_use(path)),
        // a file system without locks
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// The file in which the log begins, for this process alone.
fn lock_temporary(path: &Path, temporary: &Path) -> Result<File> {
    let failed = |e: io::Error| file_error(temporary, &e);
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32;
    // appended to: a file that is cut stays shorter than what was written
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).custom_flags(flags);
    let file = options.open(temporary).map_err(|e| file_error(path, &e))?;
    refuse_type(temporary, file.metadata().map_err(failed)?.file_type())?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        return Err(in_use(path));
    }
    let locked = Stamp::of(temporary, &file.metadata().map_err(failed)?, 0);
    // the other process was faster: the file is at its place already, or removed
    if !Stamp::at(temporary).is_ok_and(|now| now.is_same_file(&locked)) {
        return Err(in_use(path));
    }
    // a run that was killed before its first ticks leaves the beginning of a log
    if let Head::Foreign(why) = read_head(file.try_clone().map_err(failed)?) {
        return Err(foreign(temporary, &why));
    }
    file.set_len(0).map_err(failed)?;
    Ok(file)
}

/// Refuses to write a log where one of the files is that it is made from: `inputs`, under any name.
///
/// # Errors
/// [`ErrorKind::Input`] with both names.
pub fn refuse_inputs(inputs: &[PathBuf], to: &Path) -> Result<()> {
    let stamp = |path: &PathBuf| Stamp::at(path).ok();
    let inputs: Vec<Stamp> = inputs.iter().filter_map(stamp).collect();
    let replaced = std::iter::once(to.to_path_buf()).chain(further_files(to));
    for found in replaced.filter_map(|path| stamp(&path)) {
        if let Some(input) = inputs.iter().find(|input| input.is_same_file(&found)) {
            let text = format!(
                "--log {} would replace {}, which is the input {}; choose another name",
                to.display(),
                found.path().display(),
                input.path().display()
            );
            return Err(Error::new(ErrorKind::Input, text));
        }
    }
    Ok(())
}

/// Only a regular file can be a log; nothing else is opened, for that alone can block.
fn refuse_special(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) => refuse_type(path, metadata.file_type()),
        Err(_) if path.is_symlink() => Err(special(path, "a link that leads to no file")),
        Err(_none) => Ok(()),
    }
}

fn refuse_type(path: &Path, of: FileType) -> Result<()> {
    irregular(of).map_or(Ok(()), |kind| Err(special(path, kind)))
}

fn special(path: &Path, kind: &str) -> Error {
    let text = format!(
        "log {}: it is {kind}, and a log needs a regular file; choose another name with --log",
        path.display()
    );
    Error::new(ErrorKind::File, text)
}

fn in_use(path: &Path) -> Error {
    let text = format!(
        "log {}: another process records in it now; end that process, or choose another name \
         with --log",
        path.display()
    );
    Error::new(ErrorKind::File, text)
}

fn foreign(path: &Path, why: &str) -> Error {
    let text = format!(
        "log {}: it would be replaced, but it is not of an earlier run of this log ({why}); move \
         it away, or choose another name with --log",
        path.display()
    );
    Error::new(ErrorKind::File, text)
}
