//! How a token becomes a header. The header exists only for a request to the token's own server.

use crate::port::Answered;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::fault::ForgeFault;

/// Headers that carry secrets. They are never among the plain headers of a client.
pub const SECRET_HEADERS: [&str; 3] = ["authorization", "private-token", "job-token"];

/// In which form a forge wants its token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthScheme {
    /// `Authorization: token …`, of Gitea and Forgejo.
    Token,
    /// `Authorization: Bearer …`, of GitHub.
    Bearer,
    /// `PRIVATE-TOKEN: …`, of GitLab.
    PrivateToken,
    /// `JOB-TOKEN: …`, of a GitLab job.
    JobToken,
    /// `Authorization: Basic …`, of git over HTTP: the token is this user's password.
    Basic { user: String },
}

impl AuthScheme {
    fn header(&self) -> &'static str {
        match self {
            AuthScheme::Token | AuthScheme::Bearer | AuthScheme::Basic { .. } => "authorization",
            AuthScheme::PrivateToken => "private-token",
            AuthScheme::JobToken => "job-token",
        }
    }

    fn value(&self, token: &str) -> String {
        match self {
            AuthScheme::Token => format!("token {token}"),
            AuthScheme::Bearer => format!("Bearer {token}"),
            AuthScheme::PrivateToken | AuthScheme::JobToken => token.to_owned(),
            AuthScheme::Basic { user } => format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{token}"))),
        }
    }
}

/// A token and the form it is sent in.
#[derive(Clone)]
pub struct Credential {
    token: BoundToken,
    scheme: AuthScheme,
}

impl Credential {
    /// Refuses what could be no header, before anything is sent.
    pub fn new(token: BoundToken, scheme: AuthScheme) -> Answered<Self> {
        let host = token.server().authority();
        let credential = Credential { token, scheme };
        let probe = credential.token.text_for(&credential.token.server().to_string()).unwrap_or_default();
        match HeaderValue::from_str(&credential.scheme.value(probe)) {
            Ok(_) => Ok(credential),
            Err(_) => Err(ForgeFault::Unauthorized {
                host,
                message: "the token holds characters that no token has; is there a line break in it?".into(),
            }),
        }
    }

    /// The header for a request to this address; none if it is not at the token's own server.
    pub fn header_for(&self, url: &Url) -> Option<(HeaderName, HeaderValue)> {
        let text = self.token.text_for(url.as_str())?;
        let mut value = HeaderValue::from_str(&self.scheme.value(text)).ok()?;
        // Marked, so that nothing prints it.
        value.set_sensitive(true);
        Some((HeaderName::from_static(self.scheme.header()), value))
    }

    pub fn token(&self) -> &BoundToken {
        &self.token
    }
}

/// The `Authorization` that git sends to this address; none if it is not at the token's own server.
pub fn for_git(token: &BoundToken, scheme: &AuthScheme, url: &str) -> Option<String> {
    token.text_for(url).map(|text| scheme.value(text))
}
