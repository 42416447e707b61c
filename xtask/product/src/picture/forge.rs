//! A pull request on a real Gitea server, reviewed, pushed to and reviewed again, as a browser shows it.

use anyhow::{Context as _, Result, bail};
use forge_conformance::{Stage as _, Who};
use gitea_peer::{BOT, GiteaStage};
use std::path::Path;
use std::process::Command;
use xtask::root;

/// Drives the browser that the machine has.
const DRIVER: &str = "playwright-core@1.64.1";
/// Takes a picture of one element and what is right around it. Nothing is reached but the server on this machine.
const SCRIPT: &str = r#"
const { chromium } = require("playwright-core");
const [address, file, selector, above, width, height] = process.argv.slice(1);
(async () => {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"];
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
  const page = await browser.newPage({ viewport: { width: Number(width), height: 1000 } });
  await page.goto(address, { waitUntil: "load" });
  await page.waitForTimeout(1000);
  const box = await page.locator(selector).first().boundingBox();
  const [x, y] = [Math.max(box.x - 80, 0), Math.max(box.y - Number(above), 0)];
  const clip = { x, y, width: Math.min(box.width + 100, width - x), height: Math.min(box.height + Number(above) + 10, height) };
  await page.screenshot({ path: file, fullPage: true, clip });
  await browser.close();
})().catch((error) => { console.error(error); process.exit(1); });
"#;
const WIDTH: u32 = 1280;
const MAX_HEIGHT: u32 = 1500;

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
    xtask::run("cargo", &["build", "--release", "--quiet", "-p", "tribunal"])?;
    if !xtask::peers_folder().join("gitea/web.stamp").is_file() {
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
    shoot(&address, "gitea-summary.png", &format!("#issuecomment-{}", sticky.id), 10)?;
    shoot(&format!("{address}/files"), "gitea-inline.png", "#diff-container", 55)
}

fn review(home: &Path, address: &str, token: &str) -> Result<()> {
    let status = Command::new(root().join("target/release/tribunal"))
        .args(["review", address])
        .current_dir(home)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("TRIBUNAL_TOKEN", token)
        .env("TRIBUNAL__FORGE__URL", address)
        .status()?;
    if !matches!(status.code(), Some(0 | 1)) {
        bail!("the review ended with {status}");
    }
    Ok(())
}

fn shoot(address: &str, name: &str, selector: &str, above: u32) -> Result<()> {
    let (driver, path) = (xtask::peers_folder().join("browser"), root().join("docs/images").join(name));
    let status = Command::new("npm")
        .args(["install", "--prefix"])
        .arg(&driver)
        .args(["--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", DRIVER])
        .status()
        .context("npm is needed to drive a browser; install Node.js 20 or later")?;
    if !status.success() {
        bail!("npm could not install {DRIVER}");
    }
    let status = Command::new("node")
        .args(["-e", SCRIPT, "--", address])
        .arg(&path)
        .args([selector, &above.to_string(), &WIDTH.to_string(), &MAX_HEIGHT.to_string()])
        .env("NODE_PATH", driver.join("node_modules"))
        .status()?;
    if !status.success() {
        bail!("the browser took no picture of {address}; is Chromium installed?");
    }
    eprintln!("wrote {}", path.display());
    Ok(())
}
