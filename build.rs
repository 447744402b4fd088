//! Lists the shipped drives, so that a file in `config/drives` is all that one needs.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new("config/drives");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".toml").map(String::from));
    }
    names.sort_unstable();
    let mut text = String::from("&[\n    (\"ideal\", \"\"),\n");
    for name in names {
        let file = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/config/drives/{name}.toml\")");
        // writing to a string cannot fail
        let _ = writeln!(text, "    (\"{name}\", include_str!({file})),");
    }
    text.push_str("]\n");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&out).join("drives.rs"), text)
}
