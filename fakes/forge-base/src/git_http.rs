//! git over smart HTTP: the program that git itself brings for it, called as a CGI.

use crate::git::git;
use crate::wire::{Reply, Request};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    Fetch,
    Push,
}

/// The project and what is wanted of it, when this is a request of git.
pub(crate) fn wanted(request: &Request) -> Option<(String, &'static str, Service)> {
    for tail in ["/info/refs", "/git-upload-pack", "/git-receive-pack"] {
        let Some(project) = request.path.strip_suffix(tail) else { continue };
        let named = request.query_value("service");
        let push = tail == "/git-receive-pack" || named.as_deref() == Some("git-receive-pack");
        let project = project.trim_matches('/').trim_end_matches(".git");
        return Some((project.to_owned(), tail, if push { Service::Push } else { Service::Fetch }));
    }
    None
}

/// Calls git on a repository. `login` is whose push it is; git takes none from nobody.
pub(crate) fn serve(folder: &Path, tail: &str, request: &Request, login: Option<&str>) -> Reply {
    let mut command = git();
    command
        .arg("http-backend")
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_TRANSLATED", format!("{}{tail}", folder.display()))
        .env("PATH_INFO", tail)
        .env("QUERY_STRING", &request.query)
        .env("REQUEST_METHOD", &request.method)
        .env("REMOTE_ADDR", "127.0.0.1")
        .env("CONTENT_LENGTH", request.body.len().to_string());
    for (header, name) in
        [("content-type", "CONTENT_TYPE"), ("content-encoding", "HTTP_CONTENT_ENCODING"), ("git-protocol", "GIT_PROTOCOL")]
    {
        if let Some(value) = request.header(header) {
            command.env(name, value);
        }
    }
    if let Some(login) = login {
        command.env("REMOTE_USER", login);
    }
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("git runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let body = request.body.clone();
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&body)));
    let output = child.wait_with_output().expect("git ends");
    let _ = feeder.join();
    read_cgi(&output.stdout)
}

fn read_cgi(output: &[u8]) -> Reply {
    let Some(end) = output.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Reply::text(500, "git http-backend said nothing");
    };
    let mut reply = Reply::empty(200);
    for line in String::from_utf8_lossy(&output[..end]).lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let (name, value) = (name.trim().to_ascii_lowercase(), value.trim());
        if name == "status" {
            reply.status = value.split(' ').next().and_then(|code| code.parse().ok()).unwrap_or(500);
        } else {
            reply.headers.insert(name, value.to_owned());
        }
    }
    reply.body = output[end + 4..].to_vec();
    reply
}
