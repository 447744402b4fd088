//! Files that commands write: none that they read, and none half.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::bench::quadruped;
use crate::common::logs;
use hardstand::daemon::{Report, reports};

/// Inputs of every command, each with a name that an output could have.
struct Inputs {
    folder: tempfile::TempDir,
    before: Vec<(PathBuf, Vec<u8>)>,
}

impl Inputs {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let scenario = quadruped(&[]);
        let ticks = logs::run_of(&scenario, &logs::Script::default(), 100);
        logs::write(&path("run.mcap"), &scenario, &ticks);
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (from, to) in [
            ("benches/robots/go2_like.urdf", "robot.urdf"),
            ("examples/go2_air/map.toml", "map.csv"),
        ] {
            fs::copy(root.join(from), path(to)).unwrap();
        }
        let urdf = path("robot.urdf").display().to_string();
        let text = format!("overlays = [\"over.toml\"]\n[robot]\nurdf = {urdf:?}\n");
        fs::write(path("scenario.toml"), text).unwrap();
        fs::write(path("over.toml"), "").unwrap();
        let joint = "FL_hip_joint";
        let rows: String = (0..50).map(|i| format!("{},0.1,0.1\n", f64::from(i) * 0.01)).collect();
        fs::write(path("real.csv"), format!("time_s,q.{joint},q_des.{joint}\n{rows}")).unwrap();
        fs::write(path("drive.toml"), "armature = 0.01\n").unwrap();
        // the same file under other names
        fs::hard_link(path("run.mcap"), path("run.csv")).unwrap();
        std::os::unix::fs::symlink(path("run.mcap"), path("run.svg")).unwrap();
        std::os::unix::fs::symlink(path("drive.toml"), path("drive.svg")).unwrap();
        let names = ["run.mcap", "robot.urdf", "map.csv", "scenario.toml", "over.toml", "real.csv"];
        let names = names.into_iter().chain(["drive.toml"]);
        let before = names.map(|name| (path(name), fs::read(path(name)).unwrap())).collect();
        Self { folder, before }
    }

    /// `hardstand` in the folder of the inputs, whose names begin with `@`.
    fn run(&self, words: &str) -> (String, i32) {
        run_in(self.folder.path(), words)
    }
}

/// `hardstand`, with `@` in its words for this folder.
fn run_in(folder: &Path, words: &str) -> (String, i32) {
    let of_folder = |word: &str| match word.split_once('@') {
        Some((before, name)) => {
            let mut word = OsString::from(before);
            word.push(folder.join(name));
            word
        }
        None => word.into(),
    };
    let words: Vec<OsString> = words.split(' ').map(of_folder).collect();
    logs::hardstand(&words.iter().map(|w| w.as_os_str()).collect::<Vec<_>>())
}

#[test]
fn a_command_does_not_write_over_what_it_reads() {
    let inputs = Inputs::new();
    for words in [
        "export @run.mcap --csv @run.csv",
        "export @run.mcap --parquet @run.csv",
        "plot @run.mcap feet -o @run.svg",
        "bisect @run.mcap @run.mcap --plot @run.svg",
        "page @run.mcap -o @run.mcap",
        "new @robot.urdf -o @robot.urdf --force",
        "import @real.csv -o @real.csv",
        "import @real.csv --map @map.csv -o @map.csv",
        "calibrate @real.csv @scenario.toml --fit contact.mu_kinetic -o @scenario",
        "calibrate @real.csv @scenario.toml --fit contact.mu_kinetic -o @over",
        "drive @drive.toml --svg @drive.svg",
        "run @scenario.toml --report @run.mcap --log @run.mcap",
        "run @scenario.toml --report @run.csv --log @run.mcap",
        "run @scenario.toml --report @run.svg --log @run.mcap",
        "run @scenario.toml --report @run.mcap --log @run.svg",
        "run @scenario.toml --report @run.svg --set record.file=@run.mcap",
        "run @scenario.toml --report @new.json --log @new.json",
        "run @scenario.toml --report @scenario.toml",
        "run @scenario.toml --report @robot.urdf",
        "run @scenario.toml --report @run.csv --from @run.mcap",
        "run @scenario.toml --log @memory --set shared_memory.path=@memory",
    ] {
        let (said, code) = inputs.run(words);
        assert_eq!(code, 2, "{words}: {said}");
        assert!(said.contains("choose another name"), "{words}: {said}");
        for (file, bytes) in &inputs.before {
            assert!(fs::read(file).unwrap() == *bytes, "{words} changed {}", file.display());
        }
    }
}

/// What is replaced keeps its mode, and what links to it is not written into.
#[test]
fn an_output_is_there_whole_or_not_at_all() {
    let inputs = Inputs::new();
    let path = |name: &str| inputs.folder.path().join(name);
    for (name, words) in [
        ("out.csv", "export @run.mcap --csv @out.csv"),
        ("out.svg", "plot @run.mcap feet -o @out.svg"),
        ("out.png", "plot @run.mcap feet -o @out.png"),
        ("out.html", "page @run.mcap -o @out.html"),
        ("out.toml", "new @robot.urdf -o @out.toml --force"),
    ] {
        fs::write(path(name), "old").unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o600)).unwrap();
        let kept = path(&format!("kept.{name}"));
        fs::hard_link(path(name), &kept).unwrap();
        let (said, code) = inputs.run(words);
        assert!(code < 2, "{words}: {said}");
        assert_eq!(fs::read(&kept).unwrap(), b"old", "{words} wrote into the old file");
        let now = fs::metadata(path(name)).unwrap();
        assert!(now.len() > 100, "{words}: {} bytes", now.len());
        assert_eq!(now.mode() & 0o777, 0o600, "{words}");
    }
    let all = fs::read_dir(inputs.folder.path()).unwrap();
    let parts = all.filter(|f| f.as_ref().unwrap().file_name().to_string_lossy().ends_with("part"));
    assert_eq!(parts.count(), 0);
    // what is no regular file is written where it is
    let (said, code) = inputs.run("export @run.mcap --csv /dev/null");
    assert_eq!(code, 0, "{said}");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

/// Each command writes a file of its own beside the one that it replaces: none takes another's for
/// what an interrupted command has left, and what one has left goes.
#[test]
fn commands_that_write_one_file_at_a_time_leave_it_whole() {
    let inputs = Inputs::new();
    let path = |name: &str| inputs.folder.path().join(name);
    let words = "export @run.mcap --csv @out.csv";
    assert_eq!(inputs.run(words).1, 0);
    let alone = fs::read(path("out.csv")).unwrap();
    fs::write(path(".out.csv.1.part"), "left").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let (said, code) = inputs.run(words);
                    assert_eq!(code, 0, "{said}");
                    assert!(fs::read(path("out.csv")).unwrap() == alone, "it is not whole");
                }
            });
        }
    });
    let all = fs::read_dir(inputs.folder.path()).unwrap();
    let names = all.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with("part")).count(), 0);
}

/// Other programs take `-` for standard output, and a file of that name is hard to get rid of.
#[test]
fn a_single_hyphen_is_no_file() {
    let inputs = Inputs::new();
    for words in [
        "export @run.mcap --csv -",
        "export @run.mcap --parquet -",
        "page @run.mcap -o -",
        "new @robot.urdf -o -",
    ] {
        let (said, code) = inputs.run(words);
        assert_eq!(code, 2, "{words}: {said}");
        assert!(said.contains("write /dev/stdout, or ./- for a file"), "{words}: {said}");
    }
    let mut export = Command::new(env!("CARGO_BIN_EXE_hardstand"));
    export.arg("export").arg(inputs.folder.path().join("run.mcap"));
    let out = export.args(["--csv", "/dev/stdout", "--only", "base.z"]).output().unwrap();
    let rows = String::from_utf8(out.stdout).unwrap();
    assert!(out.status.success() && rows.starts_with("base.z [m]\n"), "{rows}");
    assert_eq!(rows.lines().count(), 101, "nothing else is on standard output: {rows}");
}

/// A recovery that is interrupted leaves nothing that looks like a log.
#[test]
fn a_recovered_log_is_there_whole_or_not_at_all() {
    let inputs = Inputs::new();
    let path = |name: &str| inputs.folder.path().join(name);
    fs::write(path(".to.mcap.1.part"), "left").unwrap();
    // the file may not grow beyond the middle
    let script = "ulimit -f 8; exec \"$0\" recover run.mcap --to to.mcap";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_hardstand")]).current_dir(inputs.folder.path());
    let cut = shell.output().unwrap();
    assert!(!cut.status.success() && !path("to.mcap").exists(), "{cut:?}");
    let (said, code) = inputs.run("recover @run.mcap --to @to.mcap");
    assert_eq!(code, 0, "{said}");
    assert!(!path(".to.mcap.1.part").exists(), "what was left goes");
    let (said, code) = inputs.run("recover @run.mcap --to @to.mcap");
    assert!(code == 2 && said.contains("to.mcap: the file exists; choose another"), "{said}");
}

/// What is done is not lost over a name in its document.
#[test]
fn a_path_that_is_not_unicode_does_not_cost_the_document() {
    let inputs = Inputs::new();
    let folder = inputs.folder.path().join(OsStr::from_bytes(b"a\xff"));
    fs::create_dir(&folder).unwrap();
    fs::copy(inputs.folder.path().join("run.mcap"), folder.join("run.mcap")).unwrap();
    fs::copy(inputs.folder.path().join("real.csv"), folder.join("real.csv")).unwrap();
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/quadruped.toml");
    let run = format!(
        "run {} --pace free --duration 0.05 --set bus.listen=[] --log @new.mcap --report @report",
        scenario.display()
    );
    for (words, code) in [
        ("replay @run.mcap", 0),
        ("verify @run.mcap", 0),
        ("recover @run.mcap", 0),
        ("plot @run.mcap feet -o @out.svg", 0),
        ("export @run.mcap --csv @out.csv", 0),
        ("page @run.mcap -o @out.html", 0),
        ("bisect @run.mcap @run.mcap", 0),
        ("branch @run.mcap --at 20 --log @branch.mcap", 0),
        ("import @real.csv -o @again.csv", 0),
        (&run, 0),
    ] {
        let (said, found) = run_in(&folder, &format!("{words} --json"));
        assert_eq!(found, code, "{words}: {said}");
        assert!(said.contains("a\u{fffd}/"), "{words}: {said}");
    }
    let report = fs::read_to_string(folder.join("report")).unwrap();
    let [Report::Ready(_), Report::Ended(end)] = &reports(&report)[..] else { panic!("{report}") };
    assert!(end.log_files[0].ends_with("a\u{fffd}/new.mcap"), "{report}");
}
