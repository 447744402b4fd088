//! The name by which programs find the shared library: it has the version of the interface.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // HARDSTAND_ABI_VERSION; tests/install.rs compares
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhardstand.so.1");
}
