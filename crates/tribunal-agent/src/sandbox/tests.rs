//! Each test tries what a hostile program would, from inside, with a small Python script where a shell cannot.

use super::*;
use crate::process::{Clocks, Company, Invocation, Printed, run_with};
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

/// Without a sandbox there is nothing to test, which CI must not take for a success.
fn is_missing() -> bool {
    let missing = strength().is_none();
    assert!(!missing || std::env::var_os("CI").is_none(), "CI must have a sandbox: {}", describe());
    missing
}

fn python() -> Option<&'static str> {
    ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists())
}

fn inside(command: &[&str], read: &[&Path], network: Network, apart: bool, door: impl FnOnce(TcpListener)) -> Printed {
    let folder = tempfile::tempdir().unwrap();
    let command: Vec<String> = command.iter().map(|part| (*part).to_owned()).collect();
    let invocation = Invocation {
        command: &command,
        input: Vec::new(),
        directory: folder.path(),
        scratch: folder.path(),
        env: &[],
        set: &[],
        limits: Limits {
            reads: Reads::Only { run: Vec::new(), read: read.iter().map(|path| path.to_path_buf()).collect() },
            apart,
            ..Limits::open(vec![folder.path().to_owned()], network)
        },
        clocks: Clocks::total(Duration::from_secs(600)),
    };
    run_with(&invocation, Company { door: Some(Box::new(door)), ..Company::default() }).unwrap()
}

fn says(command: &[&str], read: &[&Path], network: Network, apart: bool) -> String {
    let printed = inside(command, read, network, apart, drop);
    String::from_utf8_lossy(&printed.stdout).trim().to_owned()
}

#[test]
fn only_listed_files_are_read() {
    if is_missing() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (secret, open) = (folder.path().join("id_ed25519"), folder.path().join("tree"));
    std::fs::write(&secret, "PRIVATE").unwrap();
    std::fs::create_dir(&open).unwrap();
    std::fs::write(open.join("file"), "shown").unwrap();
    std::os::unix::fs::symlink(&secret, open.join("link")).unwrap();
    for apart in [false, true] {
        let script = format!(
            "cat {0}/file; cat {1} {0}/link /etc/shadow /proc/1/environ 2>/dev/null; ls {2} 2>/dev/null; echo x > {0}/new; true",
            open.display(),
            secret.display(),
            folder.path().display()
        );
        assert_eq!(says(&["sh", "-c", &script], &[&open], Network::None, apart), "shown", "apart: {apart}");
        assert!(!open.join("new").exists());
    }
}

/// The keys are in our environment and memory, and in those of our copies that keep the child.
#[test]
fn our_environment_and_memory_are_out_of_reach() {
    if is_missing() {
        return;
    }
    let script = format!(
        "for p in {} $PPID 1; do cat /proc/$p/environ /proc/$p/mem /proc/$p/maps 2>/dev/null | head -c 100; done; echo end",
        std::process::id()
    );
    for apart in [false, true] {
        assert_eq!(says(&["sh", "-c", &script], &[], Network::None, apart), "end", "apart: {apart}");
    }
}

#[test]
fn apart_means_that_nobody_else_is_seen() {
    if is_missing() || !space::works() {
        return;
    }
    let seen = says(&["sh", "-c", "echo /proc/[0-9]*"], &[], Network::None, true);
    assert!(seen.split_whitespace().count() <= 4, "{seen}");
}

/// Prints the outcome of connecting to each port.
const CONNECT: &str = "
import socket, sys
for port in sys.argv[1:]:
    try:
        socket.create_connection(('127.0.0.1', int(port)), 5).close()
        print('open', end=' ')
    except OSError as error:
        print(error.strerror, end=' ')
";

#[test]
fn only_the_allowed_port_is_reached() {
    let Some(python) = python().filter(|_| !is_missing()) else { return };
    let (ours, other) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let (ours_port, other_port) = (port(&ours).to_string(), port(&other).to_string());
    let tried = [python, "-c", CONNECT, ours_port.as_str(), other_port.as_str()];
    assert_eq!(says(&tried, &[], Network::Port(port(&ours)), false), "open Permission denied");
    assert_eq!(says(&tried, &[], Network::None, false), "Permission denied Permission denied");
    if !space::works() {
        return;
    }
    // In a network of its own: nothing is there but the listener that was handed to us.
    assert_eq!(says(&tried, &[], Network::None, true), "Connection refused Connection refused");
    let inner = space::PORT.to_string();
    let script = "
import socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)
print(connection.recv(5).decode())
";
    let printed = inside(&[python, "-c", script, &inner], &[], Network::Port(space::PORT), true, |listener| {
        std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
    });
    assert_eq!(printed.stdout, b"hello\n");
}

/// Each line of the script is a way out; each must be refused.
#[test]
fn calls_that_no_reviewer_needs_are_refused() {
    let Some(python) = python().filter(|_| !is_missing()) else { return };
    let script = "
import ctypes, os, platform, socket
libc = ctypes.CDLL(None, use_errno=True)
def refused(result):
    return result == -1 and ctypes.get_errno() == 1
def no_socket(*kind):
    try:
        socket.socket(*kind).close()
        return False
    except PermissionError:
        return True
x86 = platform.machine() == 'x86_64'
number = lambda x86_64, aarch64: x86_64 if x86 else aarch64
tried = {
    'udp': no_socket(socket.AF_INET, socket.SOCK_DGRAM),
    'udp6': no_socket(socket.AF_INET6, socket.SOCK_DGRAM),
    'raw': no_socket(socket.AF_INET, socket.SOCK_RAW, 1),
    'mptcp': no_socket(socket.AF_INET, socket.SOCK_STREAM, 262),
    'vsock': no_socket(40, socket.SOCK_STREAM),
    'netlink': no_socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    'alg': no_socket(38, 5),
    'ptrace': refused(libc.ptrace(0, 0, 0, 0)),
    'mount': refused(libc.mount(b'none', b'/', b'tmpfs', 0, None)),
    'unshare': refused(libc.unshare(0x10000000)),
    'keyctl': refused(libc.syscall(number(250, 219), 0, 0, 0, 0, 0)),
    'io_uring': refused(libc.syscall(425, 1, 0)),
    'bpf': refused(libc.syscall(number(321, 280), 0, 0, 0)),
    'perf': refused(libc.syscall(number(298, 241), 0, 0, 0, 0, 0)),
    'userfaultfd': refused(libc.syscall(number(323, 282), 0)),
    'readv': refused(libc.syscall(number(310, 270), os.getppid(), 0, 0, 0, 0, 0)),
    'clone3': libc.syscall(435, 0, 0) == -1 and ctypes.get_errno() == 38,
    'clone': refused(libc.syscall(number(56, 220), 0x10000000 | 17, 0, 0, 0, 0)),
    'second numbers': not x86 or (libc.syscall(0x40000000 + 39) == -1 and ctypes.get_errno() == 38),
    'privileges': libc.prctl(39, 0, 0, 0, 0) == 1,
    'caps': 'CapEff:\\t0000000000000000' in open('/proc/self/status').read() or os.environ.get('APART') != '1',
}
server = socket.socket(); client = socket.socket()
try:
    client.sendto(b'x', 0x20000000, ('127.0.0.1', 9)); tried['fast open'] = False
except PermissionError:
    tried['fast open'] = True
print([name for name, held in tried.items() if not held])
";
    for apart in [false, true] {
        assert_eq!(says(&[python, "-c", script], &[], Network::Port(9), apart), "[]", "apart: {apart}");
    }
}

#[test]
fn signals_do_not_reach_us() {
    if is_missing() || files::level() < Some(6) {
        return;
    }
    let script = format!("kill -0 {} 2>/dev/null && echo reached; kill -9 $PPID 2>/dev/null; echo end", std::process::id());
    for apart in [false, true] {
        assert_eq!(says(&["sh", "-c", &script], &[], Network::None, apart), "end", "apart: {apart}");
    }
}

/// On machines that have it.
#[test]
fn bubblewrap_gives_the_same() {
    if !bubblewrap::works() {
        eprintln!("SKIPPED: no working bwrap");
        return;
    }
    let limits = Limits {
        reads: Reads::Only { run: Vec::new(), read: Vec::new() },
        apart: true,
        ..Limits::open(Vec::new(), Network::None)
    };
    let script = "cat /etc/shadow; ls /home /root; unshare -U true && echo unshared; echo /proc/[0-9]*".to_owned();
    let mut wrapped = bubblewrap::wrap(&["sh".into(), "-c".into(), script], &limits, Path::new("/usr")).unwrap();
    let printed = wrapped.command.output().unwrap();
    let seen = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    assert!(seen.starts_with("/proc/1 ") && seen.split_whitespace().count() <= 3, "{seen}");
}
