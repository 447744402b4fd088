//! Files that a command writes: none that it reads, and each of them whole or not at all.

use std::error::Error as StdError;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use hardstand_error::{Error, ErrorKind, Result};

/// The name under which a command can write a file to its standard output.
pub(super) const STANDARD_OUTPUT: &str = "/dev/stdout";
/// Most commands that write one file at a time.
const PARTS_MAX: u32 = 1000;

/// Refuses the name `file`, which `option` gave, if it is that of one of `inputs`, or the `-` that
/// other programs take for standard output.
///
/// # Errors
/// [`ErrorKind::Input`].
pub(super) fn check<'a>(
    option: &str,
    file: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    if file == Path::new("-") {
        let text = format!(
            "{option} is -, which is not taken for standard output; write {STANDARD_OUTPUT}, or \
             ./- for a file of that name"
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    let Some(input) = inputs.into_iter().find(|input| is_same(file, input)) else { return Ok(()) };
    let (file, input) = (file.display(), input.display());
    let text = format!("{option} is {file}, which is read as {input}; choose another name");
    Err(Error::new(ErrorKind::Input, text))
}

/// The folder of a file, also of a name without one.
pub(super) fn folder_of(file: &Path) -> &Path {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Whether both names are or would be those of one file.
#[cfg(feature = "zenoh")]
pub(super) fn are_one(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| Some(folder_of(path).canonicalize().ok()?.join(path.file_name()?));
    is_same(a, b) || place(a).is_some_and(|a| Some(a) == place(b))
}

/// Whether both names lead to one file, also over links.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let identity = |path| fs::metadata(path).map(|m| (m.dev(), m.ino())).ok();
        let of_a = identity(a);
        of_a.is_some() && of_a == identity(b)
    }
    #[cfg(not(unix))]
    {
        let of_a = a.canonicalize().ok();
        of_a.is_some() && of_a == b.canonicalize().ok()
    }
}

/// A file that is written beside the one that it will replace. Dropped before its end, it leaves
/// that one as it was.
#[derive(Debug)]
pub(super) struct OutputFile {
    to: PathBuf,
    /// Where it is until its end; `None` for what is not a regular file, such as a pipe.
    part: Option<PathBuf>,
    out: BufWriter<File>,
}

impl OutputFile {
    /// Begins `file`, which is called `what` in errors.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be written.
    pub(super) fn create(what: &str, file: &Path) -> Result<Self> {
        Self::begin(file).map_err(|e| failed(what, file, &e))
    }

    fn begin(file: &Path) -> io::Result<Self> {
        let old = fs::metadata(file).ok();
        if old.as_ref().is_some_and(|old| !old.is_file()) {
            let out = BufWriter::new(File::options().write(true).open(file)?);
            return Ok(Self { to: file.into(), part: None, out });
        }
        // of a link what it leads to is replaced
        let to = if old.is_some() { file.canonicalize()? } else { file.to_path_buf() };
        let Some(name) = to.file_name() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not the name of a file"));
        };
        let (part, created) = new_part(&to, &name.to_string_lossy())?;
        if let Some(old) = old {
            created.set_permissions(old.permissions())?;
        }
        Ok(Self { to, part: Some(part), out: BufWriter::new(created) })
    }

    /// The file, for writers of their own.
    pub(super) fn file(&self) -> &File {
        self.out.get_ref()
    }

    /// Ends the file: it is there under its name, whole.
    ///
    /// # Errors
    /// [`ErrorKind::File`] if it cannot be written.
    pub(super) fn finish(mut self, what: &str) -> Result<()> {
        let done = self.out.flush().and_then(|()| match self.part.take() {
            Some(part) => fs::rename(&part, &self.to).inspect_err(|_| self.part = Some(part)),
            None => Ok(()),
        });
        done.map_err(|e| failed(what, &self.to, &e))
    }
}

/// A new file beside `to`, which is called `name`. What interrupted commands have left goes; what
/// another command is writing stays.
fn new_part(to: &Path, name: &str) -> io::Result<(PathBuf, File)> {
    // another command must not take a file for an old one before it is locked
    let gate = File::open(folder_of(to));
    let _locked = gate.as_ref().is_ok_and(|gate| gate.lock().is_ok());
    for k in 1..=PARTS_MAX {
        let part = to.with_file_name(format!(".{name}.{k}.part"));
        if File::open(&part).is_ok_and(|left| left.try_lock().is_ok()) {
            let _gone = fs::remove_file(&part).is_ok();
        }
        match File::options().write(true).create_new(true).open(&part) {
            Ok(file) => {
                let _locked = file.try_lock().is_ok();
                return Ok((part, file));
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    let text = format!("{PARTS_MAX} commands are writing it, or have left .{name}.*.part");
    Err(io::Error::new(io::ErrorKind::AlreadyExists, text))
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _gone = fs::remove_file(part).is_ok();
        }
    }
}

/// Refuses a file that `what` names and that cannot be written. What is neither a regular file nor
/// a folder, such as a pipe, is not opened before it is written.
///
/// # Errors
/// [`ErrorKind::File`].
#[cfg(feature = "zenoh")]
pub(super) fn check_writable(what: &str, file: &Path) -> Result<()> {
    let is_other = fs::metadata(file).is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_other { Ok(()) } else { OutputFile::create(what, file).map(drop) }
}

/// Writes `file`, which is called `what` in errors, as `fill` does.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be written.
pub(super) fn write(
    what: &str,
    file: &Path,
    fill: impl FnOnce(&mut OutputFile) -> std::result::Result<(), Box<dyn StdError>>,
) -> Result<()> {
    let mut out = OutputFile::create(what, file)?;
    fill(&mut out).map_err(|e| failed(what, file, &e))?;
    out.finish(what)
}

/// Writes a text.
///
/// # Errors
/// [`ErrorKind::File`] if it cannot be written.
pub(super) fn write_text(what: &str, file: &Path, text: &str) -> Result<()> {
    write(what, file, |out| Ok(out.write_all(text.as_bytes())?))
}

pub(super) fn failed(what: &str, file: &Path, e: &dyn Display) -> Error {
    Error::new(ErrorKind::File, format!("{what} {}: {e}", file.display()))
}
