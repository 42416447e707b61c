//! Scheme, host and port of a server: what a token is bound to.

use core::net::{IpAddr, Ipv4Addr};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Scheme {
    Http,
    Https,
}

impl Scheme {
    fn default_port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }
}

/// An origin as browsers compare them. Two are the same only if scheme, host and port are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HttpOrigin {
    scheme: Scheme,
    host: String,
    port: u16,
}

impl HttpOrigin {
    /// The origin of an address. Whatever two parsers could read differently has none: a user before an `@`, a host with characters
    /// outside of plain host names, a port that is no number.
    pub fn of(url: &str) -> Option<HttpOrigin> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let authority = rest.split(['/', '?', '#', '\\']).next()?;
        HttpOrigin::from_authority(scheme, authority)
    }

    /// The servers that a person may mean by this text: an address, or a host with or without a port. A host alone is reached with
    /// `https`; on this machine also with `http`.
    pub fn named_by(text: &str) -> Vec<HttpOrigin> {
        if text.contains("://") {
            return HttpOrigin::of(text).into_iter().collect();
        }
        let text = text.trim().trim_end_matches('/');
        let both = [Scheme::Https, Scheme::Http].into_iter().filter_map(|scheme| HttpOrigin::from_authority(scheme, text));
        both.filter(HttpOrigin::may_carry_secrets).collect()
    }

    fn from_authority(scheme: Scheme, authority: &str) -> Option<HttpOrigin> {
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                let address = address.parse::<IpAddr>().ok().filter(IpAddr::is_ipv6)?;
                (format!("[{address}]"), port)
            }
            None => {
                let (host, port) = authority.find(':').map_or((authority, ""), |at| authority.split_at(at));
                let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
                if host.is_empty() || !host.chars().all(is_plain) {
                    return None;
                }
                (host.to_ascii_lowercase(), port)
            }
        };
        let port = match port.strip_prefix(':') {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
            Some(_) => return None,
            None if port.is_empty() => scheme.default_port(),
            None => return None,
        };
        Some(HttpOrigin { scheme, host, port })
    }

    /// Does the name itself say that it is this machine? A name that merely begins like one (`127.0.0.1.example.org`) does not.
    pub fn is_loopback(&self) -> bool {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        self.host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Is it an address inside of somebody's network, which a server outside has no business to point at?
    pub fn is_internal(&self) -> bool {
        let bare = self.host.trim_start_matches('[').trim_end_matches(']');
        self.is_loopback()
            || match bare.parse::<IpAddr>() {
                Ok(IpAddr::V4(address)) => is_internal_v4(address),
                Ok(IpAddr::V6(address)) => {
                    let first = address.segments()[0];
                    address.is_unspecified()
                        || first & 0xfe00 == 0xfc00
                        || first & 0xffc0 == 0xfe80
                        || address.to_ipv4_mapped().is_some_and(is_internal_v4)
                }
                Err(_) => false,
            }
    }

    /// A secret that leaves this machine unencrypted is anybody's.
    pub fn may_carry_secrets(&self) -> bool {
        self.scheme == Scheme::Https || self.is_loopback()
    }

    /// Host and port, as a person types them: without a port that goes without saying.
    pub fn authority(&self) -> String {
        if self.port == self.scheme.default_port() { self.host.clone() } else { format!("{}:{}", self.host, self.port) }
    }
}

fn is_internal_v4(address: Ipv4Addr) -> bool {
    address.is_private() || address.is_link_local() || address.is_unspecified() || address.is_loopback()
}

impl fmt::Display for HttpOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.word(), self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scheme_host_and_port_are_compared() {
        let origin = |url: &str| HttpOrigin::of(url).unwrap();
        assert_eq!(origin("https://Git.Example.org/a/b?c"), origin("https://git.example.org:443"));
        for other in
            ["http://git.example.org", "https://git.example.org:8443", "https://example.org", "https://git.example.org.evil"]
        {
            assert_ne!(origin("https://git.example.org"), origin(other), "{other}");
        }
        assert_ne!(origin("http://127.0.0.1:1"), origin("http://127.0.0.2:1"));
        assert_eq!(origin("http://[::1]:3000/x").to_string(), "http://[::1]:3000");
    }

    /// What a browser, git and this function could read differently names no server at all.
    #[test]
    fn what_parsers_read_differently_has_no_origin() {
        for odd in [
            "https://github.com@evil.example/",
            "https://github.com:x/",
            "https://github.com:443:1/",
            "https://github.com%2eevil.example/",
            "https://gith\u{fc}b.com",
            "https://",
            "https:///github.com",
            "https://[::1",
            "https://[127.0.0.1]",
            "ftp://github.com",
            "github.com",
        ] {
            assert_eq!(HttpOrigin::of(odd), None, "{odd}");
        }
        assert_eq!(HttpOrigin::of("https://evil.example\\@github.com"), HttpOrigin::of("https://evil.example"));
    }

    #[test]
    fn only_this_machine_is_reached_in_the_clear() {
        let may = |url: &str| HttpOrigin::of(url).unwrap().may_carry_secrets();
        for fine in ["https://a.example", "http://localhost:3000", "http://127.0.0.2", "http://[::1]:1"] {
            assert!(may(fine), "{fine}");
        }
        for bad in [
            "http://a.example",
            "http://127.0.0.1.evil.example",
            "http://localhost.evil.example",
            "http://10.0.0.1",
            "http://0.0.0.0",
        ] {
            assert!(!may(bad), "{bad}");
        }
    }

    #[test]
    fn a_host_alone_means_https() {
        let named = |text: &str| HttpOrigin::named_by(text).iter().map(HttpOrigin::to_string).collect::<Vec<_>>();
        assert_eq!(named("git.example.org"), ["https://git.example.org"]);
        assert_eq!(named("git.example.org:8443"), ["https://git.example.org:8443"]);
        assert_eq!(named("http://git.example.org"), ["http://git.example.org"]);
        assert_eq!(named("127.0.0.1:3000"), ["https://127.0.0.1:3000", "http://127.0.0.1:3000"]);
        assert!(named("not a host").is_empty());
    }

    #[test]
    fn addresses_inside_a_network_are_told() {
        let is = |url: &str| HttpOrigin::of(url).unwrap().is_internal();
        for inside in [
            "http://127.0.0.1",
            "http://169.254.169.254",
            "https://10.1.2.3",
            "https://192.168.0.1",
            "https://[fd00::1]",
            "https://[::ffff:10.0.0.1]",
        ] {
            assert!(is(inside), "{inside}");
        }
        assert!(!is("https://example.org") && !is("https://8.8.8.8"));
    }
}
