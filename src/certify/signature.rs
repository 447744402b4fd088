//! Signatures of certificates: Ed25519 over the bytes of the file, in a file beside it, so that
//! `openssl pkeyutl -verify` can check them too.

use std::path::{Path, PathBuf};

use ed25519_compact::{KeyPair, PublicKey, Signature};

use hardstand_error::{Error, ErrorKind, Result};

/// The file of a certificate's signature.
#[must_use]
pub fn signature_file(certificate: &Path) -> PathBuf {
    let mut name = certificate.as_os_str().to_owned();
    name.push(".sig");
    name.into()
}

/// A private key: PKCS #8 in PEM, as `openssl genpkey -algorithm ed25519` writes it.
///
/// # Errors
/// [`ErrorKind::File`] if the file cannot be read; [`ErrorKind::Input`] if it has no such key.
pub fn signing_key(file: &Path) -> Result<KeyPair> {
    KeyPair::from_pem(&text(file)?).map_err(|e| {
        let how = "make one with `openssl genpkey -algorithm ed25519 -out key.pem`";
        Error::new(
            ErrorKind::Input,
            format!("{}: no private Ed25519 key: {e}; {how}", file.display()),
        )
    })
}

/// Signs a file: 64 bytes in `FILE.sig`.
///
/// # Errors
/// [`ErrorKind::File`] if a file cannot be read or written.
pub fn sign(file: &Path, key: &KeyPair) -> Result<PathBuf> {
    let signature = key.sk.sign(bytes(file)?, None);
    let out = signature_file(file);
    std::fs::write(&out, *signature)
        .map_err(|e| Error::new(ErrorKind::File, format!("{}: {e}", out.display())))?;
    Ok(out)
}

/// Checks `FILE.sig` against a public key: PEM, as `openssl pkey -pubout` writes it.
///
/// # Errors
/// [`ErrorKind::File`] if a file cannot be read; [`ErrorKind::Input`] if the signature is not that
/// of this key for these bytes.
pub fn verify(file: &Path, public: &Path) -> Result<()> {
    let refuse = |text: String| Error::new(ErrorKind::Input, text);
    let key = PublicKey::from_pem(&text(public)?).map_err(|e| {
        let how = "`openssl pkey -in key.pem -pubout -out public.pem` writes one";
        refuse(format!("{}: no public Ed25519 key: {e}; {how}", public.display()))
    })?;
    let of = signature_file(file);
    let signature = Signature::from_slice(&bytes(&of)?)
        .map_err(|e| refuse(format!("{}: no signature: {e}", of.display())))?;
    key.verify(bytes(file)?, &signature).map_err(|_mismatch| {
        let (file, public) = (file.display(), public.display());
        refuse(format!("{file} was changed, or was not signed with the key of {public}"))
    })
}

fn bytes(file: &Path) -> Result<Vec<u8>> {
    std::fs::read(file)
        .map_err(|e| Error::new(ErrorKind::File, format!("cannot read {}: {e}", file.display())))
}

fn text(file: &Path) -> Result<String> {
    String::from_utf8(bytes(file)?).map_err(|_binary| {
        Error::new(ErrorKind::Input, format!("{}: a key in PEM is text", file.display()))
    })
}
