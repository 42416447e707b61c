//! Real git against the base, and what makes it fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use fake_forge_base::{Base, FileStatus, Kind, Level, MergeWay, Reply, Request, Server, Site, Times};
use std::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Quirk {
    Broken,
}

#[derive(Default)]
struct Plain {
    pushes: Vec<String>,
}

impl Site for Plain {
    type Fault = Quirk;

    fn answer(&mut self, base: &mut Base<Quirk>, request: &Request) -> Option<Reply> {
        (request.path == "/known").then(|| if base.faults.fires(Quirk::Broken) { Reply::empty(500) } else { Reply::empty(204) })
    }

    fn pushed(&mut self, _: &mut Base<Quirk>, project: &str) {
        self.pushes.push(project.to_owned());
    }
}

fn server() -> Server<Plain> {
    let server = Server::start(Plain::default());
    server.with(|base, _| {
        base.people.add(1, "ann", Kind::Person);
        base.people.add(2, "bob", Kind::Person);
        // A token may be of any length (forges.md 8, 17).
        base.people.token(&"a".repeat(600), 1, &[]);
        base.people.token("bob", 2, &[]);
        base.add_project("acme/shop").private = true;
        base.people.grant("acme/shop", 1, Level::Write);
        base.people.grant("acme/shop", 2, Level::Read);
        base.repository("acme/shop").commit("main", None, &[("a.txt", Some(b"1\n2\n3\n"))], "first");
    });
    server
}

fn git(folder: &std::path::Path, args: &[&str]) -> std::process::Output {
    let mut command = Command::new("git");
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "T").env(format!("GIT_{role}_EMAIL"), "t@example.org");
    }
    command.current_dir(folder).args(args).output().unwrap()
}

#[test]
fn git_clones_partly_fetches_by_id_and_pushes_with_the_right_token() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let address = |token: &str| server.url().replace("http://", &format!("http://x:{token}@")) + "/acme/shop.git";
    let ann = address(&"a".repeat(600));
    assert!(!git(folder.path(), &["clone", "-q", &(server.url() + "/acme/shop"), "none"]).status.success());
    let cloned = git(folder.path(), &["clone", "-q", "--filter=blob:none", &ann, "shop"]);
    assert!(cloned.status.success(), "{}", String::from_utf8_lossy(&cloned.stderr));
    let shop = folder.path().join("shop");
    let hidden = server.with(|base, _| {
        let repository = base.repository("acme/shop");
        let sha = repository.commit("gone", Some("main"), &[("b.txt", Some(b"x\n"))], "hidden");
        repository.delete_ref("refs/heads/gone");
        sha
    });
    assert!(git(&shop, &["fetch", "-q", "origin", &hidden]).status.success());
    std::fs::write(shop.join("c.txt"), "c\n").unwrap();
    git(&shop, &["add", "."]);
    assert!(git(&shop, &["commit", "-qm", "more"]).status.success());
    assert!(!git(&shop, &["push", "-q", &address("bob"), "HEAD:refs/heads/topic"]).status.success());
    let pushed = git(&shop, &["push", "-q", "origin", "HEAD:refs/heads/topic"]);
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
    server.with(|base, site| {
        assert_eq!(site.pushes, ["acme/shop"]);
        assert!(base.repository("acme/shop").rev("topic").is_some());
    });
    assert_eq!((server.log().reads(), server.log().writes()), (0, 0));
}

#[test]
fn merges_make_what_they_are_called_after() {
    let server = server();
    server.with(|base, _| {
        let repository = base.repository("acme/shop");
        let head = repository.commit("topic", Some("main"), &[("a.txt", Some(b"1\n2\n3\n4\n")), ("n w.txt", Some(b"n\n"))], "t1");
        repository.commit("other", Some("main"), &[("a.txt", Some(b"one\n2\n3\n"))], "o1");
        repository.commit("clash", Some("main"), &[("a.txt", Some(b"eins\n2\n3\n"))], "c1");
        let diff = repository.diff("main", &head);
        assert_eq!(diff.files.len(), 2);
        assert_eq!(diff.file("n w.txt").unwrap().status, FileStatus::Added);
        assert_eq!(diff.file("a.txt").unwrap().hunk_of_new(4), Some(0));
        assert_eq!(diff.file("a.txt").unwrap().hunk_of_new(5), None);
        let squashed = repository.merge("main", &head, MergeWay::Squash, "squashed").unwrap();
        assert_eq!(repository.commits("main~1", "main"), [squashed]);
        let other = repository.rev("other").unwrap();
        repository.merge("main", &other, MergeWay::Rebase, "").unwrap();
        assert_eq!(repository.file("main", "a.txt").unwrap(), b"one\n2\n3\n4\n");
        assert!(repository.conflicts("main", "clash"));
        assert_eq!(repository.merge("main", "clash", MergeWay::Merge, "m"), None);
        assert_eq!(repository.carry_line("other", "main", "a.txt", 3), Some(3));
        assert_eq!(repository.carry_line("clash", "main", "a.txt", 1), None);
    });
}

#[test]
#[should_panic(expected = "Broken was armed")]
fn a_fault_that_never_fired_fails() {
    server().arm(Quirk::Broken, Times::Once);
}

#[test]
#[should_panic(expected = "no such route: GET /unknown")]
fn a_route_that_is_not_there_fails() {
    let server = server();
    let mut stream = std::net::TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    std::io::Write::write_all(&mut stream, b"GET /unknown HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
}
