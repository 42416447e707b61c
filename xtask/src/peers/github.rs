//! What GitHub says of its own APIs, to hold our requests and our fake's answers against.

use super::folder;
use anyhow::{Context as _, Result, bail};
use std::process::Command;

/// GitHub's descriptions of its own APIs: a package, and the one file of it that is kept. The first is 404 MB when unpacked.
const PACKAGES: [(&str, &str); 2] = [
    ("@octokit/openapi@23.0.2", "package/generated/api.github.com.json"),
    ("@octokit/graphql-schema@15.26.1", "package/schema.graphql"),
];

pub fn pins() -> String {
    PACKAGES.map(|(package, file)| format!("{package} {file}")).join("\n")
}

pub fn descriptions() -> Result<()> {
    let kept = folder().join("github");
    let stamp = kept.join("stamp");
    let wanted = pins();
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("peers: GitHub's API descriptions, from npm");
    std::fs::create_dir_all(&kept)?;
    for (package, file) in PACKAGES {
        let packed = kept.join("packed");
        if packed.exists() {
            std::fs::remove_dir_all(&packed)?;
        }
        std::fs::create_dir(&packed)?;
        let status = Command::new("npm")
            .args(["pack", "--silent", "--fetch-timeout=60000", "--fetch-retries=2", package])
            .current_dir(&packed)
            .stdout(std::process::Stdio::null())
            .status()
            .context("npm is needed for GitHub's API descriptions; install Node.js 20 or later")?;
        let archive = std::fs::read_dir(&packed)?.next().transpose()?.map(|entry| entry.path());
        let Some(archive) = archive.filter(|_| status.success()) else { bail!("npm could not fetch {package}") };
        // The one file, and no more of it on the disk than that.
        let parts = file.split('/').count() - 1;
        let status = Command::new("tar")
            .arg("-xzf")
            .arg(archive)
            .arg("-C")
            .arg(&kept)
            .arg(format!("--strip-components={parts}"))
            .arg(file)
            .status()
            .context("tar is needed to unpack GitHub's API descriptions")?;
        if !status.success() {
            bail!("{package} has no {file}");
        }
        std::fs::remove_dir_all(packed)?;
    }
    Ok(std::fs::write(stamp, wanted)?)
}
