//! What goes wrong, and where.

use std::time::Duration;

/// What happens to a request, or to its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Harm {
    /// The server never sees the request; the connection is cut.
    DropRequest,
    /// The server does the work; its answer is lost and the connection cut.
    DropAnswer,
    /// The server does the work; half of the answer's body arrives.
    CutAnswer,
    /// The server does the work; what arrives as its answer is no JSON.
    Garble,
    /// The server does the work; the answer says this status instead.
    AnswerInstead(u16),
    /// The server never sees the request; this status is the answer.
    RefuseWith(u16),
    /// The server never sees the request; this JSON is the answer.
    AnswerWith(String),
    /// The request waits this long before it is passed on.
    Delay(Duration),
    /// The request waits until the proxy is told to release it.
    Hold,
    /// The client is told to come back after so many seconds; the server never sees the request.
    Limit(u64),
}

/// Applies to some of the requests of one method and path.
#[derive(Debug, Clone)]
pub struct Rule {
    method: String,
    path: String,
    from: usize,
    times: usize,
    pub(crate) harm: Harm,
    matched: usize,
    applied: usize,
}

impl Rule {
    /// The n-th request, counted from one.
    pub fn nth(n: usize, method: &str, path: &str, harm: Harm) -> Rule {
        Rule { method: method.to_owned(), path: path.to_owned(), from: n, times: 1, harm, matched: 0, applied: 0 }
    }

    pub fn first(method: &str, path: &str, harm: Harm) -> Rule {
        Rule::nth(1, method, path, harm)
    }

    pub fn every(method: &str, path: &str, harm: Harm) -> Rule {
        Rule { times: usize::MAX, ..Rule::nth(1, method, path, harm) }
    }

    /// Counts the request, and says whether it is one that goes wrong.
    pub(crate) fn meets(&mut self, method: &str, path: &str) -> bool {
        if !matches(&self.method, &self.path, method, path) {
            return false;
        }
        self.matched += 1;
        let hit = self.matched >= self.from && self.applied < self.times;
        self.applied += usize::from(hit);
        hit
    }

    pub(crate) fn never_applied(&self) -> Option<String> {
        (self.applied == 0).then(|| format!("{} {} ({:?}): {} requests met it", self.method, self.path, self.harm, self.matched))
    }
}

/// A request that came by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub method: String,
    /// Without the query.
    pub path: String,
    pub query: String,
    pub body: Vec<u8>,
    /// What was done to it.
    pub harm: Option<Harm>,
    /// What the server answered, where it was asked.
    pub status: Option<u16>,
}

/// `*` as a method is any method. A pattern that begins with a slash may begin anywhere in the path.
pub fn matches(method_pattern: &str, path_pattern: &str, method: &str, path: &str) -> bool {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let pattern: Vec<&str> = path_pattern.trim_matches('/').split('/').collect();
    (method_pattern == "*" || method_pattern.eq_ignore_ascii_case(method))
        && (0..=parts.len()).any(|start| parts_match(&pattern, &parts[start..]))
}

fn parts_match(pattern: &[&str], parts: &[&str]) -> bool {
    match (pattern.split_first(), parts.split_first()) {
        (None, None) => true,
        (Some((&"**", rest)), _) => (0..=parts.len()).any(|taken| parts_match(rest, &parts[taken..])),
        (Some((&"*", rest)), Some((_, more))) => parts_match(rest, more),
        (Some((wanted, rest)), Some((part, more))) => wanted == part && parts_match(rest, more),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_paths() {
        let reviews = "/repos/*/*/pulls/*/reviews";
        assert!(matches("POST", reviews, "POST", "/api/v1/repos/a/b/pulls/7/reviews"));
        assert!(!matches("POST", reviews, "GET", "/api/v1/repos/a/b/pulls/7/reviews"));
        assert!(!matches("*", reviews, "POST", "/api/v1/repos/a/b/pulls/7/reviews/9"));
        assert!(matches("*", "/pulls/**", "GET", "/api/v1/repos/a/b/pulls/7/reviews/9"));
        assert!(matches("*", "/**", "GET", "/"));
        assert!(!matches("*", "/pulls", "GET", "/api/pulls/7"));
    }

    #[test]
    fn only_the_named_requests_are_met() {
        let mut rule = Rule::nth(2, "POST", "/a", Harm::DropAnswer);
        assert!(rule.never_applied().is_some());
        assert_eq!([(); 4].map(|()| rule.meets("POST", "/a")), [false, true, false, false]);
        assert!(rule.never_applied().is_none());
        let mut rule = Rule::every("*", "/a", Harm::Garble);
        assert_eq!([(); 3].map(|()| rule.meets("GET", "/a")), [true; 3]);
    }
}
