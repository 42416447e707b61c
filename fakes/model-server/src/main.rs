//! `fake-model-server [--script FILE] [--port N]`: prints its URL and serves until it is ended.
//!
//! `GET /_fake/requests` and `GET /_fake/accounting` show the record, `POST /_fake/script` changes the script.

use fake_model_server::{ModelServer, Script};
use std::process::ExitCode;

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("fake-model-server: {why}");
            ExitCode::from(2)
        }
    }
}

fn serve() -> Result<(), String> {
    let mut script = Script::default();
    let mut port = 0;
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} wants a value"));
        match word.as_str() {
            "--script" => {
                let path = value()?;
                let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
                script = serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
            }
            "--port" => port = value()?.parse().map_err(|error| format!("--port: {error}"))?,
            other => return Err(format!("`{other}` is not known; usage: fake-model-server [--script FILE] [--port N]")),
        }
    }
    let server = ModelServer::bind(script, port).map_err(|error| format!("port {port}: {error}"))?;
    println!("{}", server.url());
    server.wait();
    Ok(())
}
