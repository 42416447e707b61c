//! How long a newcomer and a contributor wait, each figure next to its limit. Everything happens in a clone of its own with caches of its
//! own; only downloaded packages are shared. Nothing else should run on the machine meanwhile.

use anyhow::{Context as _, Result, bail};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Any file of the core that everything depends on.
const SMALL_CHANGE: &str = "crates/tribunal-core/src/ids.rs";
const DEMO: [&str; 6] = ["run", "--quiet", "-p", "tribunal", "--", "demo"];

struct Place {
    clone: PathBuf,
    cache: PathBuf,
}

pub fn run() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("tribunal-bench-build-{}", std::process::id()));
    let place = Place { clone: folder.join("clone"), cache: folder.join("cache") };
    std::fs::create_dir_all(&place.cache)?;
    let measured = measure(&place);
    std::fs::remove_dir_all(&folder)?;
    let figures = measured?;
    let missed: Vec<&str> = figures.iter().filter(|(_, seen, limit, _)| seen > limit).map(|(what, ..)| *what).collect();
    if !missed.is_empty() {
        bail!("over the limit: {}", missed.join("; "));
    }
    Ok(())
}

/// What it is, what was seen, the limit, the unit.
type Figure = (&'static str, f64, f64, &'static str);

fn measure(place: &Place) -> Result<Vec<Figure>> {
    let mut figures: Vec<Figure> = Vec::new();
    let mut tell = |figure: Figure| {
        let (what, seen, limit, unit) = figure;
        println!("{} {seen:>7.0} {unit:<2} (limit {limit:.0})  {what}", if seen > limit { "MISS" } else { "ok  " });
        figures.push(figure);
    };
    let clone = Command::new("git").args(["clone", "--quiet"]).arg(xtask::root()).arg(&place.clone).status()?;
    if !clone.success() {
        bail!("the repository could not be cloned");
    }
    tell(("the first command, from nothing", place.time(&DEMO)?, 360.0, "s"));
    place.change(1)?;
    tell(("the same after a small change of the core", place.time(&DEMO)?, 60.0, "s"));
    place.time(&["build", "--profile", "dist", "--quiet", "-p", "tribunal"])?;
    let binary = std::fs::metadata(place.clone.join("target/dist/tribunal"))?.len();
    tell(("stripped binary", binary as f64 / 1e6, 45.0, "MB"));
    std::fs::remove_dir_all(place.clone.join("target"))?;
    tell(("cargo xtask test, from nothing", place.time(&["xtask", "test"])?, 1500.0, "s"));
    place.change(2)?;
    tell(("cargo xtask test, dependencies and peers cached", place.time(&["xtask", "test"])?, 600.0, "s"));
    place.time(&["xtask", "test", "--quick"])?;
    tell(("cargo xtask test --quick, warm", place.time(&["xtask", "test", "--quick"])?, 120.0, "s"));
    Ok(figures)
}

impl Place {
    /// Seconds until cargo has done this, which must succeed.
    fn time(&self, args: &[&str]) -> Result<f64> {
        let begun = Instant::now();
        let output = xtask::command("cargo")
            .args(args)
            .current_dir(&self.clone)
            .env("XDG_CACHE_HOME", &self.cache)
            .env_remove("CARGO_TARGET_DIR")
            .stdin(Stdio::null())
            .output()
            .context("cargo cannot be started")?;
        if !output.status.success() {
            bail!("cargo {} failed:\n{}", args.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(begun.elapsed().as_secs_f64())
    }

    /// A new function, so that everything that depends on the core is looked at again.
    fn change(&self, number: u8) -> Result<()> {
        let path = self.clone.join(SMALL_CHANGE);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let change = format!("/// A small change.\npub fn changed_{number}() -> u8 {{\n    {number}\n}}\n\n#[cfg(test)]");
        if !text.contains("#[cfg(test)]") {
            bail!("{SMALL_CHANGE} has no tests any more: choose another file");
        }
        Ok(std::fs::write(path, text.replacen("#[cfg(test)]", &change, 1))?)
    }
}
