//! A token together with the one server it is for. Its text can be had for a request to that server, and in no other way.

use super::origin::HttpOrigin;
use crate::findings::key::sha256_hex;
use crate::publish::outgoing::known::learn_secret;
use std::fmt;

/// GitHub's API has a host of its own; a token for the one is a token for the other.
const GITHUB: &str = "https://github.com";
const GITHUB_API: &str = "https://api.github.com";

/// A secret that is sent to one server only.
#[derive(Clone)]
pub struct BoundToken {
    server: HttpOrigin,
    text: String,
}

/// A token is not sent over plain HTTP.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a token is not sent to {0}: without https anybody on the way could read it")]
pub struct PlainHttp(pub HttpOrigin);

impl BoundToken {
    /// Binds a token to a server. Which server that is must come from the person or from the variable's own meaning
    /// ([`super::grant`]), never from what is about to be asked.
    pub fn given_for(server: &HttpOrigin, text: &str) -> Result<BoundToken, PlainHttp> {
        // From here on nothing that this process posts, stores or prints holds it.
        learn_secret(text);
        if server.may_carry_secrets() {
            Ok(BoundToken { server: server.clone(), text: text.to_owned() })
        } else {
            Err(PlainHttp(server.clone()))
        }
    }

    /// The same with an address, which must be one.
    pub fn given_for_url(server: &str, text: &str) -> Option<BoundToken> {
        BoundToken::given_for(&HttpOrigin::of(server)?, text).ok()
    }

    /// The text, for a request to this address: only if it is at the token's own server.
    pub fn text_for(&self, url: &str) -> Option<&str> {
        let to = HttpOrigin::of(url).filter(|to| self.is_for(to))?;
        (to.may_carry_secrets() && !self.text.is_empty()).then_some(&self.text)
    }

    /// Is this the server that the token is for?
    pub fn is_for(&self, to: &HttpOrigin) -> bool {
        *to == self.server || (self.server.to_string() == GITHUB && to.to_string() == GITHUB_API)
    }

    pub fn server(&self) -> &HttpOrigin {
        &self.server
    }

    /// A text in which the token does not stand any more.
    pub fn mask(&self, text: &str) -> String {
        if self.text.is_empty() { text.to_owned() } else { text.replace(&self.text, "…") }
    }

    /// Tells tokens apart in caches, and tells nothing else.
    pub fn digest(&self) -> String {
        sha256_hex(format!("{}\n{}", self.server, self.text).as_bytes())
    }

    /// A hint at what kind of token it is. Nothing may be relied upon.
    pub fn starts_with(&self, prefix: &str) -> bool {
        self.text.starts_with(prefix)
    }

    /// The key that our marks are sealed with, where no key was given for the purpose.
    pub(crate) fn secret(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for BoundToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoundToken(… for {})", self.server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn token(server: &str) -> BoundToken {
        BoundToken::given_for_url(server, "s3cr3t").unwrap()
    }

    #[test]
    fn the_text_is_had_for_its_own_server_only() {
        let token = token("https://git.example.org:8443");
        assert_eq!(token.text_for("https://git.example.org:8443/api/v1/user"), Some("s3cr3t"));
        for elsewhere in [
            "https://git.example.org/api",
            "http://git.example.org:8443/",
            "https://git.example.org.evil.example:8443",
            "https://git.example.org:8443@evil.example/",
            "https://user@git.example.org:8443/",
            "git.example.org:8443",
        ] {
            assert_eq!(token.text_for(elsewhere), None, "{elsewhere}");
        }
        assert!(!format!("{token:?}").contains("s3cr3t"));
        assert_eq!(token.mask("it is s3cr3t."), "it is ….");
    }

    #[test]
    fn github_s_api_is_github() {
        let github = token("https://github.com");
        assert!(github.text_for("https://api.github.com/graphql").is_some());
        assert!(github.text_for("https://uploads.github.com/x").is_none() && github.text_for("http://api.github.com").is_none());
        assert!(token("https://ghe.example.org").text_for("https://api.github.com/user").is_none());
    }

    #[test]
    fn nothing_is_bound_to_plain_http() {
        let server = HttpOrigin::of("http://git.example.org").unwrap();
        let refused = BoundToken::given_for(&server, "s3cr3t").unwrap_err().to_string();
        assert!(refused.contains("https") && !refused.contains("s3cr3t"), "{refused}");
        assert!(BoundToken::given_for_url("http://127.0.0.1:3000", "x").is_some());
    }

    proptest! {
        /// Whatever address is asked for: the text goes out only to exactly the server.
        #[test]
        fn no_address_but_the_server_s_gets_the_text(
            scheme in "(https?|HTTPS|ftp)", user in "([a-z]{1,3}@)?", host in "(git\\.example\\.org|evil\\.example|git\\.example\\.org\\.evil)",
            port in "(:443|:8443|:)?", rest in "[/?#\\\\@a-z.]{0,12}",
        ) {
            let token = token("https://git.example.org");
            let url = format!("{scheme}://{user}{host}{port}{rest}");
            if token.text_for(&url).is_some() {
                let lower = url.to_ascii_lowercase();
                let behind = lower.strip_prefix("https://git.example.org").unwrap();
                let behind = behind.strip_prefix(":443").unwrap_or(behind);
                prop_assert!(behind.is_empty() || behind.starts_with(['/', '?', '#', '\\']), "{url}");
            }
        }
    }
}
