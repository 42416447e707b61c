//! The pictures in the documentation, each of a real run: what `tribunal demo` prints, and a reviewed pull request in a browser.

mod forge;

use anyhow::{Result, bail};
use std::fs;
use std::process::Command;
use xtask::root;

pub use forge::run as run_forge;

pub fn run() -> Result<()> {
    xtask::run("cargo", &["build", "--release", "--quiet", "-p", "tribunal"])?;
    let home = tempfile::tempdir()?;
    let output = Command::new(root().join("target/release/tribunal"))
        .args(["demo", "--color", "always"])
        .env("HOME", home.path())
        .output()?;
    if !output.status.success() {
        bail!("the demonstration failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let text = format!("$ tribunal review\n\n{}", String::from_utf8_lossy(&output.stdout));
    let path = root().join("docs/images/review.svg");
    fs::create_dir_all(root().join("docs/images"))?;
    fs::write(&path, anstyle_svg::Term::new().render_svg(&text))?;
    eprintln!("wrote {}", path.display());
    Ok(())
}
