//! Tells the linker to keep one copy of functions that came out the same, of which async code has many, and of texts that
//! end the same, and to pack what the loader has to adjust at the start.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    // Only LLVM's linker can, which is the toolchain's own on this platform.
    if is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo:rustc-link-arg-bins=-Wl,--icf=all,-O2");
        if loader_unpacks() {
            println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// Whether the C library of this machine, which the binary is linked with, reads packed relocations: 2.36 and later.
fn loader_unpacks() -> bool {
    let Ok(found) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let text = String::from_utf8_lossy(&found.stdout);
    let version = text.split_whitespace().last().unwrap_or_default();
    let mut parts = version.split('.').map_while(|part| part.parse::<u32>().ok());
    (parts.next(), parts.next()) >= (Some(2), Some(36))
}
