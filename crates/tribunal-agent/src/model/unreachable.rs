//! Why no connection came about, in words that say what to do.

use super::request::is_loopback;
use super::transport::innermost;
use reqwest::Url;
use std::error::Error;
use std::io::ErrorKind;
use tribunal_core::call::fault::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Refused,
    UnknownName,
    Certificate,
    TooSlow,
    Other,
}

/// Only the host and port of the address are shown: what else it holds may be secret.
pub fn unreachable(url: &Url, error: &reqwest::Error) -> Fault {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or_default();
    Fault::Unreachable { message: wording(host, port, cause(error), &innermost(error)) }
}

fn cause(error: &reqwest::Error) -> Cause {
    let mut said = String::new();
    let mut link: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = link {
        if error.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == ErrorKind::ConnectionRefused) {
            return Cause::Refused;
        }
        said.push_str(&error.to_string().to_lowercase());
        link = error.source();
    }
    if said.contains("certificate") {
        Cause::Certificate
    } else if said.contains("dns") || said.contains("lookup") {
        Cause::UnknownName
    } else if error.is_timeout() {
        Cause::TooSlow
    } else {
        Cause::Other
    }
}

fn wording(host: &str, port: u16, cause: Cause, detail: &str) -> String {
    match cause {
        Cause::Refused if is_loopback(host) && port == 11434 => {
            format!("nothing listens on {host}:{port}; is Ollama running? `ollama serve` starts it")
        }
        Cause::Refused if is_loopback(host) => format!("nothing listens on {host}:{port}; is the model server running?"),
        Cause::Refused => format!("{host}:{port} refuses connections; is the server running, and is `base_url` right?"),
        Cause::UnknownName => format!("the name {host} is not known here; is `base_url` right, and is there a network?"),
        Cause::Certificate => format!(
            "the certificate of {host} is not trusted ({detail}); behind a proxy that opens TLS, let SSL_CERT_FILE name its certificate"
        ),
        Cause::TooSlow => format!("{host}:{port} does not accept a connection in time"),
        Cause::Other => format!("{host}:{port}: {detail}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_says_what_to_do() {
        let shown: Vec<String> = [
            ("127.0.0.1", 11434, Cause::Refused),
            ("localhost", 8080, Cause::Refused),
            ("models.example", 443, Cause::Refused),
            ("models.example", 443, Cause::UnknownName),
            ("models.example", 443, Cause::Certificate),
            ("models.example", 443, Cause::TooSlow),
            ("models.example", 443, Cause::Other),
        ]
        .map(|(host, port, cause)| wording(host, port, cause, "DETAIL"))
        .into();
        insta::assert_snapshot!(shown.join("\n"), @"
        nothing listens on 127.0.0.1:11434; is Ollama running? `ollama serve` starts it
        nothing listens on localhost:8080; is the model server running?
        models.example:443 refuses connections; is the server running, and is `base_url` right?
        the name models.example is not known here; is `base_url` right, and is there a network?
        the certificate of models.example is not trusted (DETAIL); behind a proxy that opens TLS, let SSL_CERT_FILE name its certificate
        models.example:443 does not accept a connection in time
        models.example:443: DETAIL
        ");
    }
}
