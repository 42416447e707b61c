//! A pull request on a real Gitea server, reviewed, pushed to and reviewed again, as a browser shows it.

use crate::root;
use anyhow::{Context as _, Result, bail};
use forge_conformance::{Stage as _, Who};
use gitea_peer::{BOT, GiteaStage};
use std::path::Path;
use std::process::Command;

/// Nothing is to be reached but the server on this machine.
const BROWSER: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    // For scripts of the page to have run.
    "--virtual-time-budget=8000",
];
const WIDTH: u32 = 1280;

const BEFORE: [(&str, &str); 2] = [
    (
        "shop/orders.py",
        "\"\"\"Orders, and where they are kept.\"\"\"\n\n\ndef open_orders(cursor):\n    cursor.execute(\"SELECT id, total FROM orders WHERE shipped = 0\")\n    return cursor.fetchall()\n",
    ),
    (
        "web/cart.ts",
        "export function total(prices: number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n",
    ),
];

const AFTER: [(&str, &str); 4] = [
    (
        "shop/orders.py",
        "\"\"\"Orders, and where they are kept.\"\"\"\n\n\ndef open_orders(cursor):\n    cursor.execute(\"SELECT id, total FROM orders WHERE shipped = 0\")\n    return cursor.fetchall()\n\n\ndef orders_of(cursor, customer):\n    cursor.execute(f\"SELECT id, total FROM orders WHERE customer = '{customer}'\")\n    return cursor.fetchall()\n",
    ),
    (
        "shop/feed.py",
        "\"\"\"What the wholesaler has in stock, read once an hour.\"\"\"\n\nimport requests\nimport yaml\n\nFEED = \"https://wholesale.example/feed.yml\"\n\n\ndef fetch():\n    return requests.get(FEED, timeout=30, verify=False).text\n\n\ndef articles(text, seen=[]):\n    feed = yaml.load(text, Loader=yaml.Loader)\n    new = [article for article in feed[\"articles\"] if article[\"id\"] not in seen]\n    seen.extend(article[\"id\"] for article in new)\n    return new\n",
    ),
    (
        "web/cart.ts",
        "export function total(prices: number[]): number {\n  return prices.reduce((sum, price) => sum + price, 0);\n}\n\nexport function newCart(): { token: string; prices: number[] } {\n  const token = Math.random().toString(36).slice(2);\n  return { token, prices: [] };\n}\n",
    ),
    ("docs/feed.md", "# The feed\n\nThe wholesaler's list is read once an hour and stored as it comes.\n"),
];

const DESCRIPTION: &str = "The shop can now offer what the wholesaler has in stock.\n\n- reads the feed once an hour\n- lists the orders of one customer\n- gives each cart a token";

pub fn run() -> Result<()> {
    crate::run("cargo", &["build", "--release", "--quiet", "-p", "tribunal"])?;
    if !crate::peers::folder().join("gitea/web.stamp").is_file() {
        bail!("the server has no web pages yet; `cargo xtask peers --web` builds them");
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(take())
}

async fn take() -> Result<()> {
    let stage = GiteaStage::start("shop").await.context("no Gitea server")?;
    let some = |files: &[(&'static str, &'static str)]| -> Vec<(&str, Option<&str>)> {
        files.iter().map(|(path, text)| (*path, Some(*text))).collect()
    };
    stage.push("main", &some(&BEFORE), "Orders and a cart").await;
    stage.push("feed", &some(&AFTER), "Offer what the wholesaler has in stock").await;
    let number = stage.open_pull("feed", "main", "Offer what the wholesaler has in stock", DESCRIPTION).await;
    let address = format!("{}/{}/pulls/{number}", stage.peer.origin(), stage.path);
    let home = tempfile::tempdir()?;
    let token = stage.peer.token(BOT);
    review(home.path(), &address, token)?;
    let safe = AFTER[1].1.replace("yaml.load(text, Loader=yaml.Loader)", "yaml.safe_load(text)");
    stage.push("feed", &[(AFTER[1].0, Some(&safe))], "Read the feed safely").await;
    review(home.path(), &address, token)?;
    let comments = stage.forge_as(Who::Bot).comments(number).await?;
    let sticky = comments.iter().find(|comment| comment.body.contains("pr-review:sticky")).context("no summary")?;
    shoot(&format!("{address}#issuecomment-{}", sticky.id), "gitea-summary.png", 1200)?;
    shoot(&format!("{address}/files"), "gitea-inline.png", 1640)
}

fn review(home: &Path, address: &str, token: &str) -> Result<()> {
    let status = Command::new(root().join("target/release/tribunal"))
        .args(["review", address])
        .current_dir(home)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("TRIBUNAL_TOKEN", token)
        .status()?;
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("the review ended with {status}");
    }
    Ok(())
}

fn shoot(address: &str, name: &str, height: u32) -> Result<()> {
    let (profile, path) = (tempfile::tempdir()?, root().join("docs/images").join(name));
    let output = Command::new("chromium")
        .args(BROWSER)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--window-size={WIDTH},{height}"))
        .arg(format!("--screenshot={}", path.display()))
        .arg(address)
        .output()
        .context("chromium is needed to take pictures of pages")?;
    if !output.status.success() || !path.is_file() {
        bail!("chromium took no picture: {}", String::from_utf8_lossy(&output.stderr));
    }
    eprintln!("wrote {}", path.display());
    Ok(())
}
