//! Records the compiler that built the benches: a number without it is not a measurement.

use std::env;
use std::process::Command;

fn main() {
    let version = env::var_os("RUSTC")
        .and_then(|rustc| Command::new(rustc).arg("--version").output().ok())
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=ADMITTANCE_BENCHES_RUSTC={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
