//! A GitHub App proves itself with a signed note of ten minutes and gets a token of an hour, for one repository and for what one phase
//! needs. Signed with `ring`, which is in the program for TLS already: a JWT crate would bring a second library of ciphers.

use super::Phase;
use crate::http::client::{Http, segment};
use crate::port::Answered;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use reqwest::Method;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{PrivatePkcs1KeyDer, PrivatePkcs8KeyDer};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tribunal_core::policy::credentials::origin::HttpOrigin;
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::publish::outgoing::known::learn_secret;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::place::Project;

/// Against clocks that run ahead of GitHub's.
const BACKDATED: u64 = 60;
/// GitHub takes ten minutes and not a second more, by its own clock.
const LIFE: u64 = 540;
/// What GitHub promises. Counted by our own clock, which is the one that is asked later.
const TOKEN_LIFE: u64 = 3600;

#[derive(Clone)]
pub struct App {
    /// The client id, or the app's number.
    pub issuer: String,
    key: Arc<RsaKeyPair>,
    /// Where the App is registered: what it signs is sent nowhere else.
    server: HttpOrigin,
}

pub struct Minted {
    pub token: BoundToken,
    pub expires: u64,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
}

#[derive(Deserialize)]
struct AccessToken {
    token: String,
}

impl App {
    /// `pem` as GitHub hands it out (PKCS#1), or as other tools rewrite it (PKCS#8).
    /// `server` is where the App is registered.
    pub fn new(issuer: &str, pem: &str, server: &HttpOrigin) -> Answered<App> {
        learn_secret(pem);
        let unusable = || ForgeFault::Unauthorized {
            host: "GitHub".into(),
            message: "the App's private key is no RSA key in PEM form".into(),
        };
        let pkcs1 = PrivatePkcs1KeyDer::from_pem_slice(pem.as_bytes()).ok();
        let key = match pkcs1 {
            Some(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()).map_err(|_| unusable())?,
            None => {
                let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).map_err(|_| unusable())?;
                RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).map_err(|_| unusable())?
            }
        };
        Ok(App { issuer: issuer.to_owned(), key: Arc::new(key), server: server.clone() })
    }

    fn jwt(&self, host: &str, unix_now: u64) -> Answered<String> {
        let part = |value: Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
        let claims = json!({ "iat": unix_now.saturating_sub(BACKDATED), "exp": unix_now + LIFE, "iss": self.issuer });
        let signed = format!("{}.{}", part(json!({ "alg": "RS256", "typ": "JWT" })), part(claims));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature)
            .map_err(|_| ForgeFault::Unauthorized { host: host.to_owned(), message: "the App's key could not sign".into() })?;
        Ok(format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The note, for the App's own server.
    pub fn signed_token(&self, host: &str, unix_now: u64) -> Answered<BoundToken> {
        let note = self.jwt(host, unix_now)?;
        BoundToken::given_for(&self.server, &note)
            .map_err(|refused| ForgeFault::Unauthorized { host: host.to_owned(), message: refused.to_string() })
    }

    /// Gets a token for one repository and one phase. `http` speaks for the App itself.
    pub async fn mint(&self, http: &Http, project: &Project, phase: Phase, unix_now: u64) -> Answered<Minted> {
        let (owner, name) = project.owner_and_name();
        let what = format!("the App's installation in {}", project.path);
        let installation: Installation =
            http.get(&format!("/repos/{}/{}/installation", segment(owner), segment(name)), &what).await?;
        let path = format!("/app/installations/{}/access_tokens", installation.id);
        let body = json!({ "repositories": [name], "permissions": permissions(phase) });
        let answer = http.write(Method::POST, &path, Some(&body), "a token for the App").await.map_err(harmless)?;
        let minted: AccessToken = answer.json("a token for the App")?;
        let token = BoundToken::given_for(&self.server, &minted.token)
            .map_err(|refused| ForgeFault::Unauthorized { host: self.server.authority(), message: refused.to_string() })?;
        Ok(Minted { token, expires: unix_now + TOKEN_LIFE })
    }
}

/// A token that was minted and never seen changes nothing; whoever wanted to write with it has not written.
fn harmless(fault: ForgeFault) -> ForgeFault {
    match fault {
        ForgeFault::Uncertain { host, message } => ForgeFault::Unreachable { host, message },
        other => other,
    }
}

/// No more than the phase needs (forges.md 2.2).
fn permissions(phase: Phase) -> Value {
    match phase {
        Phase::Read => json!({
            "checks": "read", "contents": "read", "issues": "read", "metadata": "read", "pull_requests": "read", "statuses": "read",
        }),
        Phase::Logs => json!({ "actions": "read", "metadata": "read" }),
        // Reactions belong to issues; resolving a thread is reported to want the right to write contents, which reviewing must not have.
        Phase::Publish => json!({
            "checks": "write", "contents": "read", "issues": "write", "metadata": "read", "pull_requests": "write", "statuses": "write",
        }),
        Phase::Merge => json!({ "contents": "write", "metadata": "read", "pull_requests": "write" }),
    }
}
