//! Files: the log's folder may be written, the configured files may be read, nothing else.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

use libc::{EACCES, ENOSYS, EXDEV};

use crate::child::{Parent, Place, Sandbox, text};
use crate::outcome::{Attempt, attempt, call, check_refused};

const NO: &[i32] = &[EACCES];
const NOT_ACROSS: &[i32] = &[EACCES, EXDEV];
const ABSENT: &[i32] = &[ENOSYS];

pub fn attempts() -> Vec<Attempt> {
    let mut all = vec![
        attempt("read /etc/passwd", NO, |_| File::open("/etc/passwd").map(drop)),
        attempt("read another file", NO, |p| File::open(p.path("other/secret")).map(drop)),
        attempt("read by a link in the log's folder", NO, |p| {
            File::open(p.path("log/link")).map(drop)
        }),
        attempt("read by /proc/self/root", NO, |p| {
            let path = p.path("other/secret");
            File::open(format!("/proc/self/root{}", path.display())).map(drop)
        }),
        attempt("read by ..", NO, |p| File::open(p.path("log/../other/secret")).map(drop)),
        attempt("list another folder", NO, |p| fs::read_dir(p.path("other")).map(drop)),
        attempt("write a file that may be read", NO, |p| append(p, "keys/daemon.key")),
        attempt("write another file", NO, |p| append(p, "other/victim")),
        attempt("write by a link in the log's folder", NO, |p| append(p, "log/link")),
        attempt("make a file outside", NO, |p| File::create(p.path("other/new")).map(drop)),
        attempt("make a file beside the log's folder", NO, |p| {
            File::create(p.path("new")).map(drop)
        }),
        attempt("make a file in /tmp", NO, |p| {
            let path = std::env::temp_dir().join(format!("hardstand-sandbox-{}", p.other_port));
            File::create(&path)?;
            fs::remove_file(path)
        }),
        attempt("write own memory by its file", NO, |_| {
            OpenOptions::new().write(true).open("/proc/self/mem").map(drop)
        }),
        attempt("write a setting of the process", NO, |_| {
            OpenOptions::new().write(true).open("/proc/self/oom_score_adj").map(drop)
        }),
        attempt("move the log out", NOT_ACROSS, |p| {
            fs::rename(p.path("log/run.mcap"), p.path("other/run.mcap"))
        }),
        attempt("move a file into the log's folder", NOT_ACROSS, |p| {
            fs::rename(p.path("other/victim"), p.path("log/victim"))
        }),
        attempt("remove another file", NO, |p| fs::remove_file(p.path("other/secret"))),
    ];
    all.extend(attempts_that_need_absent_calls());
    all
}

fn attempts_that_need_absent_calls() -> Vec<Attempt> {
    vec![
        attempt("hard link out of the log's folder", ABSENT, |p| {
            File::create(p.path("log/a"))?;
            fs::hard_link(p.path("log/a"), p.path("other/a"))
        }),
        attempt("symbolic link", ABSENT, |p| {
            std::os::unix::fs::symlink("/etc/passwd", p.path("log/passwd"))
        }),
        attempt("folder in the log's folder", ABSENT, |p| fs::create_dir(p.path("log/folder"))),
        attempt("named pipe", ABSENT, |p| {
            let path = std::ffi::CString::new(p.path("log/pipe").to_str().unwrap()).unwrap();
            let mode = i64::from(libc::S_IFIFO | 0o600);
            let at = i64::from(libc::AT_FDCWD);
            call(libc::SYS_mknodat, [at, path.as_ptr() as i64, mode, 0, 0]).map(drop)
        }),
        attempt("mode of a file", ABSENT, |p| {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(p.path("keys/daemon.key"), fs::Permissions::from_mode(0o644))
        }),
        attempt("owner of a file", ABSENT, |p| {
            std::os::unix::fs::chown(p.path("keys/daemon.key"), None, None)
        }),
        attempt("time of a file", ABSENT, |p| {
            File::open(p.path("keys/daemon.key"))?.set_modified(std::time::UNIX_EPOCH)
        }),
        attempt("attribute of a file", ABSENT, |_| {
            call(libc::SYS_setxattr, [-1, -1, -1, 0, 0]).map(drop)
        }),
        attempt("cut by name", ABSENT, |p| {
            let path = std::ffi::CString::new(p.path("keys/daemon.key").to_str().unwrap()).unwrap();
            call(libc::SYS_truncate, [path.as_ptr() as i64, 0, 0, 0, 0]).map(drop)
        }),
        attempt("working folder", ABSENT, |_| std::env::set_current_dir("/")),
    ]
}

fn append(place: &Place, name: &str) -> std::io::Result<()> {
    OpenOptions::new().append(true).open(place.path(name))?.write_all(b"x")
}

#[test]
fn a_file_outside_the_log_cannot_be_read_written_made_moved_or_removed() {
    check_refused("files", Sandbox::All, &attempts());
}

#[test]
fn refused_attempts_leave_every_file_as_it_was() {
    let parent = Parent::new();
    parent.run("files", Sandbox::All);
    for name in ["keys/daemon.key", "other/secret", "other/victim", "log/run.mcap"] {
        assert_eq!(text(&parent.place.path(name)), name);
    }
    assert_eq!(fs::read_dir(parent.place.path("other")).unwrap().count(), 3);
}
