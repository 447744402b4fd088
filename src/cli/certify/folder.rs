//! The folder of a certificate and of its logs.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use crate::certify::{JSON_FILE, PAGE_FILE, signature_file};
use hardstand_error::{Error, ErrorKind, Result};

use super::super::output_file;

/// Makes the folder, and keeps other certifications out of it until the lock is dropped. One that
/// cannot be locked, as on some disks of a network, counts as free.
pub(super) fn lock(out: &Path) -> Result<File> {
    fs::create_dir_all(out).map_err(|e| refused(out, &e))?;
    let lock = File::open(out).map_err(|e| refused(out, &e))?;
    if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
        let text = format!(
            "--out {} is the folder of another `hardstand certify` that runs now; wait for its \
             end, or give another folder",
            out.display()
        );
        return Err(Error::new(ErrorKind::Input, text));
    }
    Ok(lock)
}

fn refused(out: &Path, e: &io::Error) -> Error {
    Error::new(ErrorKind::File, format!("{}: {e}", out.display()))
}

/// What is written must not replace what is checked.
pub(super) fn refuse_own(certificate: &Path, out: &Path) -> Result<()> {
    if !output_file::is_same(certificate, &out.join(JSON_FILE)) {
        return Ok(());
    }
    let text = format!(
        "--out {} is the folder of the certificate that --check names, which would be replaced; \
         give another folder",
        out.display()
    );
    Err(Error::new(ErrorKind::Input, text))
}

/// An old certificate must not be taken for the new one: it stays under another name.
pub(super) fn set_aside(out: &Path) -> Result<()> {
    let pair = |name: &str, to: &str| [out.join(name), out.join(to)];
    let [json, json_to] = pair(JSON_FILE, "earlier.json");
    let [page, page_to] = pair(PAGE_FILE, "earlier.html");
    let signature = [signature_file(&json), signature_file(&json_to)];
    if json.exists() {
        // the signature of one that was set aside before would not be that of this one
        let _there_may_be_none = fs::remove_file(&signature[1]).is_ok();
    }
    for [file, to] in [signature, [json, json_to], [page, page_to]] {
        match fs::rename(file, to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(refused(out, &e)),
            _ => {}
        }
    }
    Ok(())
}
