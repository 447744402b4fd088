//! A connection, and what it asks.
#![allow(clippy::missing_safety_doc, reason = "the text for C says what a pointer must be")]
#![allow(unsafe_code, reason = "names that C calls, and pointers in structs of C")]

use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::path::PathBuf;

use hardstand_client::{Client, Result, TlsFiles};

use super::pointers::{array, given, needed, place, text};
use crate::description::{HardstandModel, OwnedModel, count};
use crate::failure::{done, last, meaning, refused};
use crate::names::HARDSTAND_ABI_VERSION;
use crate::settings::{Settings, duration};
use crate::structs::{
    HardstandConnection, HardstandEvent, HardstandJoin, HardstandJoined, HardstandJoint,
    HardstandJointCommand, HardstandPush, HardstandState, HardstandStatus,
};

/// A connection to a daemon, for questions and orders. Any number of threads may use it at once.
#[derive(Debug)]
pub struct HardstandClient {
    pub(super) settings: Settings,
    pub(super) client: Client,
}

/// Sizes of the structs of the interface, in the order of `hardstand_check` in the header.
const SIZES: [usize; 10] = [
    size_of::<HardstandConnection>(),
    size_of::<HardstandJoin>(),
    size_of::<HardstandJointCommand>(),
    size_of::<HardstandState>(),
    size_of::<HardstandJoined>(),
    size_of::<HardstandJoint>(),
    size_of::<HardstandModel>(),
    size_of::<HardstandEvent>(),
    size_of::<HardstandStatus>(),
    size_of::<HardstandPush>(),
];

/// The version of the interface of this library: HARDSTAND_ABI_VERSION of its header.
/// Any thread; does not block or allocate.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_abi_version() -> u32 {
    HARDSTAND_ABI_VERSION
}

/// The version of this library as text. Any thread; does not block or allocate.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Compares the version and the sizes of the structs in a header with this library. Call
/// `hardstand_check`, which has those of its header. Any thread; does not block.
/// `sizes` points to `n` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hardstand_check_layout(
    abi_version: u32,
    sizes: *const u32,
    n: usize,
) -> i32 {
    done(|| {
        if abi_version != HARDSTAND_ABI_VERSION {
            return Err(refused(format!(
                "hardstand.h has version {abi_version} of the interface, and libhardstand has \
                 {HARDSTAND_ABI_VERSION}; compile with the header of the installed library"
            )));
        }
        // SAFETY: as the caller promises
        let sizes = unsafe { array(sizes, n, "sizes") }?;
        if !sizes.iter().map(|size| *size as usize).eq(SIZES) {
            return Err(refused(format!(
                "the structs of hardstand.h have {sizes:?} bytes, and those of libhardstand \
                 {SIZES:?}; compile with the header of the installed library"
            )));
        }
        Ok(())
    })
}

/// The message of the last error of this thread: what was refused or failed, with value and range.
/// Empty if there was none. It holds until the next error of this thread. Any thread; does not
/// block or allocate.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_last_error() -> *const c_char {
    last()
}

/// A few words for a result. Any thread; does not block or allocate.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_result_name(result: i32) -> *const c_char {
    meaning(result).as_ptr()
}

/// Opens a connection. It is made in the background; `hardstand_model` waits for it.
/// Any thread; does not wait for the daemon, allocates, and the first one starts threads.
/// Null for `connection` stands for the defaults.
///
/// HARDSTAND_REFUSED: a malformed endpoint, or a file of credentials that is missing or that others
/// can read.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_connect(
    connection: Option<&HardstandConnection>,
    client: Option<&mut MaybeUninit<*mut HardstandClient>>,
) -> i32 {
    done(|| {
        let client = place(client, "client")?;
        let settings = match connection {
            Some(connection) => read(connection)?,
            None => Settings::new(None, None),
        };
        let opened = HardstandClient { client: settings.connect()?, settings };
        *client = Box::into_raw(Box::new(opened));
        Ok(())
    })
}

/// Copies the settings of C.
fn read(c: &HardstandConnection) -> Result<Settings> {
    // SAFETY: the header says that each pointer is null or a text; all are copied before the end
    let [endpoint, robot, asker, user, password, certificate, key, ca] = unsafe {
        [
            text(c.endpoint, "endpoint")?,
            text(c.robot, "robot")?,
            text(c.asker, "asker")?,
            text(c.user, "user")?,
            text(c.password_file, "password_file")?,
            text(c.tls_certificate, "tls_certificate")?,
            text(c.tls_key, "tls_key")?,
            text(c.tls_ca, "tls_ca")?,
        ]
    };
    let mut settings = Settings::new(endpoint, robot);
    settings.asker = asker.map(String::from);
    settings.credentials.user = match (user, password) {
        (Some(user), Some(file)) => Some((user.into(), PathBuf::from(file))),
        (None, None) => None,
        _ => return Err(refused("user and password_file need each other; one of them is NULL")),
    };
    settings.credentials.tls = match (certificate, key, ca) {
        (Some(certificate), Some(key), Some(ca)) => {
            Some(TlsFiles { certificate: certificate.into(), key: key.into(), ca: ca.into() })
        }
        (None, None, None) => None,
        _ => {
            let text = "tls_certificate, tls_key and tls_ca need each other; one of them is NULL";
            return Err(refused(text));
        }
    };
    Ok(settings)
}

/// Closes a connection. Handles that were opened with it remain. Null is allowed. Blocks for some
/// milliseconds. Call it before `main` returns.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_client_free(client: Option<Box<HardstandClient>>) {
    done(|| {
        drop(client);
        Ok(())
    });
}

/// 1 if there is a connection to a daemon, else 0. Any thread; allocates.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_is_connected(client: Option<&HardstandClient>) -> i32 {
    let mut is_connected = false;
    done(|| {
        is_connected = client.is_some_and(|client| client.client.is_connected());
        Ok(())
    });
    i32::from(is_connected)
}

/// Asks for the description of robot and run, again and again for `patience_ns`.
/// Any thread; blocks for up to `patience_ns` and a second; allocates.
///
/// HARDSTAND_BUS: no daemon answers, or it rejects the credentials.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_model(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    model: Option<&mut MaybeUninit<*const HardstandModel>>,
) -> i32 {
    done(|| {
        let model = given(model, "model")?.write(std::ptr::null());
        let reply = given(client, "client")?.client.model(duration(patience_ns))?;
        *model = Box::into_raw(OwnedModel::new(&reply)).cast_const().cast();
        Ok(())
    })
}

/// Frees a description. Null is allowed. Any thread; does not block.
/// `model` was given by `hardstand_model`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hardstand_model_free(model: *const HardstandModel) {
    done(|| {
        if !model.is_null() {
            // SAFETY: hardstand_model made it from a box of an OwnedModel, which begins with it
            drop(unsafe { Box::from_raw(model.cast_mut().cast::<OwnedModel>()) });
        }
        Ok(())
    });
}

/// Asks how the daemon is doing; the answer is up to a second old. Any thread; blocks for up to
/// `patience_ns` and a second; allocates.
///
/// HARDSTAND_BUS: no daemon answers.
#[unsafe(no_mangle)]
pub extern "C" fn hardstand_status(
    client: Option<&HardstandClient>,
    patience_ns: u64,
    status: Option<&mut MaybeUninit<HardstandStatus>>,
) -> i32 {
    done(|| {
        let (client, status) = (given(client, "client")?, given(status, "status")?);
        let s = client.client.status(duration(patience_ns))?;
        status.write(HardstandStatus {
            tick: s.tick,
            time_ns: s.time_ns,
            run_id: s.run_id,
            mode: s.mode,
            phase: s.phase,
            failure: s.failure,
            authority: s.authority,
            controller_count: count(s.controllers.len()),
            missing_count: count(s.missing.len()),
            speed: s.speed,
            real_time_factor: s.real_time_factor,
        });
        Ok(())
    })
}

/// Reads the names of joints, or `None` for all joints.
pub(super) fn joint_names(join: &HardstandJoin) -> Result<Option<Vec<String>>> {
    if join.joints.is_null() && join.joint_count == 0 {
        return Ok(None);
    }
    // SAFETY: the header says that there are as many texts
    let names = unsafe { array(join.joints, join.joint_count as usize, "joints") }?;
    // SAFETY: likewise
    let names = names.iter().map(|name| unsafe { needed(*name, "a name in joints") });
    names.map(|name| name.map(String::from)).collect::<Result<Vec<String>>>().map(Some)
}

#[cfg(test)]
mod tests {
    /// If this fails, programs must be compiled again: raise `HARDSTAND_ABI_VERSION`, also in the
    /// name of the library.
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn another_layout_has_another_version() {
        let sizes = [64, 64, 40, 296, 64, 72, 160, 56, 48, 64];
        assert_eq!((super::HARDSTAND_ABI_VERSION, super::SIZES), (1, sizes));
    }
}
