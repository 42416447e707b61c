//! Each test tries what a hostile program would, from inside, with a small Python script where a shell cannot; on this machine, and on
//! this machine as if it could do less.

use super::plan::Machine;
use super::*;
use crate::process::{Clocks, Company, Invocation, Printed, Stopped, Why, run_on};
use std::io::Write as _;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::time::Duration;

/// Without a sandbox there is nothing to test, which CI must not take for a success.
fn is_missing() -> bool {
    let missing = strength().is_none();
    assert!(!missing || std::env::var_os("CI").is_none(), "CI must have a sandbox: {}", describe());
    missing
}

fn python() -> Option<&'static str> {
    ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists()).filter(|_| !is_missing())
}

/// This machine, as if its kernel were older or its namespaces were switched off: every kind that the plan tells apart.
fn machines() -> Vec<(String, Machine)> {
    let here = Machine::here();
    let mut all = vec![("here".to_owned(), here.facts)];
    if here.facts.namespaces {
        all.push(("without Landlock".into(), Facts { landlock: None, ..here.facts }));
    }
    for level in 1..=here.facts.landlock.unwrap_or(0).min(6) {
        let facts = Facts { landlock: Some(level), namespaces: false, bubblewrap: false, ..here.facts };
        all.push((format!("Landlock {level} alone"), facts));
    }
    all.into_iter().map(|(name, facts)| (name, Machine { facts, may_run_unconfined: false })).collect()
}

fn on(
    machine: &Machine,
    command: &[&str],
    read: &[&Path],
    network: Network,
    door: impl FnOnce(TcpListener),
) -> Result<Printed, Stopped> {
    let folder = tempfile::tempdir().unwrap();
    let command: Vec<String> = command.iter().map(|part| (*part).to_owned()).collect();
    let reads = Reads { run: Vec::new(), read: read.iter().map(|path| path.to_path_buf()).collect() };
    let invocation = Invocation {
        command: &command,
        input: Vec::new(),
        directory: folder.path(),
        scratch: folder.path(),
        env: &[],
        set: &[],
        limits: Limits::new(reads, vec![folder.path().to_owned()], network),
        clocks: Clocks::total(Duration::from_secs(600)),
    };
    run_on(machine, &invocation, Company { door: Some(Box::new(door)), ..Company::default() })
}

/// What it printed; its complaints too, so that a script that broke is not taken for one that was refused.
#[track_caller]
fn says(machine: &Machine, command: &[&str], read: &[&Path], network: Network) -> String {
    let printed = on(machine, command, read, network, drop).unwrap();
    format!("{}{}", String::from_utf8_lossy(&printed.stdout).trim(), printed.stderr)
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
    for (name, machine) in machines() {
        let script = format!(
            "exec 2>/dev/null; cat {0}/file; ln -s {1} own; cat {1} {0}/link own /etc/shadow /proc/1/environ; ls {2}; ln {0}/file hard && echo linked; \
             cat {1}/../id_ed25519 /proc/self/root{1} /proc/self/cwd/../{3}/id_ed25519; echo x > {0}/new; : > {0}/file; true",
            open.display(),
            secret.display(),
            folder.path().display(),
            folder.path().file_name().unwrap().display()
        );
        let mut said = says(&machine, &["sh", "-c", &script], &[&open], Network::None);
        // In a view of its own the folder above is there, with nothing in it but what is shown.
        said = said.replace("showntree", "shown");
        assert_eq!(said, "shown", "{name}");
        assert!(!open.join("new").exists());
        assert_eq!(std::fs::read(open.join("file")).unwrap(), b"shown");
    }
}

/// The keys are in our environment and memory, and in those of our copies that keep the child.
#[test]
fn our_environment_and_memory_are_out_of_reach() {
    if is_missing() {
        return;
    }
    let script = format!(
        "exec 2>/dev/null; for p in {} $PPID 1; do cat /proc/$p/environ /proc/$p/mem /proc/$p/maps | head -c 100; readlink /proc/$p/fd/0 /proc/$p/fd/3 /proc/$p/cwd /proc/$p/root; ls /proc/$p/cwd/; done; echo end",
        std::process::id()
    );
    for (name, machine) in machines() {
        assert_eq!(says(&machine, &["sh", "-c", &script], &[], Network::None), "end", "{name}");
    }
}

#[test]
fn own_namespaces_mean_that_nobody_else_is_seen() {
    if is_missing() || !space::works() {
        return;
    }
    for network in [Network::None, Network::Any] {
        let seen = says(
            &Machine::here(),
            &["sh", "-c", "echo /proc/[0-9]*; ls -A / /home /root /run 2>/dev/null | wc -w"],
            &[],
            network,
        );
        let (processes, names) = seen.split_once('\n').unwrap();
        assert!(processes.split_whitespace().count() <= 4, "{processes}");
        assert!(names.parse::<u32>().unwrap() <= 16, "{names}");
    }
}

/// Tries each way to a Unix socket. Prints those that led somewhere.
const UNIX: &str = "
import socket, sys
def reached(name, attempt):
    try:
        attempt()
        print(name)
    except OSError:
        pass
stream, datagram, abstract = sys.argv[1], sys.argv[2], '\\0' + sys.argv[3]
def connect(kind, address):
    s = socket.socket(socket.AF_UNIX, kind)
    s.connect(address)
    s.send(b'x')
def by_pair(kind, address, how):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    if how == 'sendto':
        a.sendto(b'x', address)
    else:
        a.connect(address)
        a.send(b'x')
for name, address in (('stream', stream), ('abstract', abstract)):
    reached(name, lambda: connect(socket.SOCK_STREAM, address))
    reached(name + ' by pair', lambda: by_pair(socket.SOCK_STREAM, address, 'connect'))
    reached(name + ' by packets', lambda: by_pair(socket.SOCK_SEQPACKET, address, 'connect'))
reached('datagram', lambda: connect(socket.SOCK_DGRAM, datagram))
for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET, socket.SOCK_STREAM):
    # Packets that are sent to a name go to the other end of the pair all the same.
    for how in ('connect',) if kind == socket.SOCK_SEQPACKET else ('sendto', 'connect'):
        reached('datagram by pair %s %s' % (kind, how), lambda: by_pair(kind, datagram, how))
a, b = socket.socketpair()
a.send(b'pairs work')
print(b.recv(99).decode())
";

/// B6 (a): a Unix socket outside is a way out (a container engine, a session bus, an ssh agent), wherever its file lies and whether it
/// has one.
#[test]
fn unix_sockets_are_out_of_reach() {
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (stream, datagram) = (folder.path().join("stream"), folder.path().join("datagram"));
    let name = format!("tribunal-test-{}", std::process::id());
    let listener = UnixListener::bind(&stream).unwrap();
    let packets = UnixDatagram::bind(&datagram).unwrap();
    let hidden = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    listener.set_nonblocking(true).unwrap();
    packets.set_nonblocking(true).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let command = [python, "-c", UNIX, stream.to_str().unwrap(), datagram.to_str().unwrap(), &name];
    for (name, machine) in machines() {
        for network in [Network::None, Network::Any, Network::Port(9)] {
            // Even where the folder that they lie in may be read.
            for read in [&[][..], &[folder.path()]] {
                let printed = match on(&machine, &command, read, network, drop) {
                    Err(Stopped { why: Why::NotConfined(_), .. }) => continue,
                    ran => ran.unwrap(),
                };
                assert_eq!(String::from_utf8_lossy(&printed.stdout), "pairs work\n", "{name}, {network:?}: {}", printed.stderr);
            }
        }
    }
    assert!(listener.accept().is_err() && hidden.accept().is_err() && packets.recv(&mut [0; 9]).is_err());
}

/// Prints the outcome of connecting to each port, of sending to the last one, and of asking for interfaces.
const CONNECT: &str = "
import socket, sys
def tried(name, attempt):
    try:
        attempt()
        print(name, end=' ')
    except OSError:
        print('-', end=' ')
for port in sys.argv[1:]:
    tried('open', lambda: socket.create_connection(('127.0.0.1', int(port)), 5).close())
port = int(sys.argv[-1])
tried('udp', lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port)))
tried('udp6', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('::ffff:127.0.0.1', port)))
tried('bind', lambda: socket.socket().bind(('0.0.0.0', 0)))
tried('netlink', lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0))
";

/// B6 (c): with the network off there is none, whatever Landlock can do; with one port, there is that one or no child.
#[test]
fn no_network_means_none_with_and_without_landlock() {
    let Some(python) = python() else { return };
    let (ours, other) = (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let packets = UdpSocket::bind(other.local_addr().unwrap()).unwrap();
    packets.set_nonblocking(true).unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let (ours_port, other_port) = (port(&ours).to_string(), port(&other).to_string());
    let tried = [python, "-c", CONNECT, ours_port.as_str(), other_port.as_str()];
    for (name, machine) in machines() {
        assert_eq!(says(&machine, &tried, &[], Network::None), "- - - - - -", "{name}");
        let one = Network::Port(port(&ours));
        match on(&machine, &tried, &[], one, drop) {
            // In a network of its own our port is the child's, and nobody answers there in this test.
            Ok(printed) if machine.facts.namespaces => {
                let said = String::from_utf8_lossy(&printed.stdout).into_owned();
                assert!(["open - - - bind - ", "- - - - bind - "].contains(&said.as_str()), "{name}: {said}");
            }
            Ok(printed) => panic!("{name}: the same port of every other host is open: {printed:?}"),
            Err(stopped) => {
                assert!(!machine.facts.namespaces && matches!(stopped.why, Why::NotConfined(_)), "{name}: {stopped:?}");
            }
        }
        // What a person lets run all the same has no other port, and no other kind of socket.
        let allowed = Machine { may_run_unconfined: true, ..machine };
        if !machine.facts.namespaces && machine.facts.landlock.is_some_and(|level| level >= 4) {
            let printed = on(&allowed, &tried, &[], one, drop).unwrap();
            assert_eq!(String::from_utf8_lossy(&printed.stdout), "open - - - - - ", "{name}");
        }
    }
    assert!(packets.recv(&mut [0; 9]).is_err());
    // With the network on, the same script gets through, or it would prove nothing.
    assert_eq!(says(&Machine::here(), &tried, &[], Network::Any), "open open udp udp6 bind netlink");
    assert!(packets.recv(&mut [0; 9]).is_ok());
}

#[test]
fn the_proxy_is_reached_in_a_network_of_its_own() {
    let Some(python) = python().filter(|_| space::works()) else { return };
    let inner = space::PORT.to_string();
    let script = "
import socket, sys
connection = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)
print(connection.recv(5).decode())
";
    let printed = on(&Machine::here(), &[python, "-c", script, &inner], &[], Network::Port(space::PORT), |listener| {
        std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
    });
    assert_eq!(printed.unwrap().stdout, b"hello\n");
}

/// Each line of the script is a way out; each must be refused.
#[test]
fn calls_that_no_reviewer_needs_are_refused() {
    let Some(python) = python() else { return };
    let script = "
import ctypes, os, platform, socket
libc = ctypes.CDLL(None, use_errno=True)
def refused(result):
    return result == -1 and ctypes.get_errno() == 1
def absent(result):
    return result == -1 and ctypes.get_errno() == 38
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
    'sctp': no_socket(socket.AF_INET, socket.SOCK_SEQPACKET, 132),
    'vsock': no_socket(40, socket.SOCK_STREAM),
    'netlink': no_socket(socket.AF_NETLINK, socket.SOCK_RAW, 0),
    'alg': no_socket(38, 5),
    'unix': no_socket(socket.AF_UNIX, socket.SOCK_STREAM),
    'every family': all(no_socket(family, kind) for family in range(3, 48) if family != 10 for kind in (1, 2, 3, 5)),
    'ptrace': refused(libc.ptrace(0, 0, 0, 0)),
    'mount': refused(libc.mount(b'none', b'/', b'tmpfs', 0, None)),
    'unshare': refused(libc.unshare(0x10000000)),
    'keyctl': refused(libc.syscall(number(250, 219), 0, 0, 0, 0, 0)),
    'io_uring': refused(libc.syscall(425, 1, 0)),
    'bpf': refused(libc.syscall(number(321, 280), 0, 0, 0)),
    'perf': refused(libc.syscall(number(298, 241), 0, 0, 0, 0, 0)),
    'userfaultfd': refused(libc.syscall(number(323, 282), 0)),
    'readv': refused(libc.syscall(number(310, 270), os.getppid(), 0, 0, 0, 0, 0)),
    'shared memory': refused(libc.shmget(0, 4096, 0o1600)),
    'message queue': refused(libc.msgget(0, 0o1600)),
    'semaphores': refused(libc.semget(0, 1, 0o1600)),
    'all of IPC': all(refused(libc.syscall(call, -1, 0, 0, 0, 0, 0)) for call in
        ([29, 30, 31, *range(64, 72), 220, *range(240, 246)] if x86 else range(180, 198))),
    'limits of others': refused(libc.syscall(number(302, 261), os.getppid(), 7, 0, 0)),
    'clone3': absent(libc.syscall(435, 0, 0)),
    'clone': refused(libc.syscall(number(56, 220), 0x10000000 | 17, 0, 0, 0, 0)),
    'newer calls': all(absent(libc.syscall(call, 0, 0, 0, 0, 0, 0)) for call in range(463, 520)),
    'second numbers': not x86 or absent(libc.syscall(0x40000000 + 39)),
    'privileges': libc.prctl(39, 0, 0, 0, 0) == 1,
    'caps': 'CapEff:\\t0000000000000000' in open('/proc/self/status').read(),
}
client = socket.socket()
try:
    client.sendto(b'x', 0x20000000, ('127.0.0.1', 9)); tried['fast open'] = False
except PermissionError:
    tried['fast open'] = True
print([name for name, held in tried.items() if not held])
";
    for (name, machine) in machines() {
        let machine = Machine { may_run_unconfined: true, ..machine };
        if !matches!(machine.plan(Network::Port(9)), Ok(Some(_))) {
            continue;
        }
        assert_eq!(says(&machine, &[python, "-c", script], &[], Network::Port(9)), "[]", "{name}");
    }
}

/// On x86-64 the 32-bit calls have numbers and a socket call of their own, past every filter that does not know them.
#[cfg(target_arch = "x86_64")]
#[test]
fn the_other_processor_s_calls_end_the_process() {
    let Some(python) = python() else { return };
    // `mov eax, 20 (getpid); int 0x80; ret`
    let script = "
import ctypes, mmap
code = b'\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\xc3'
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
print('called', function())
";
    for (name, machine) in machines() {
        let printed = on(&machine, &[python, "-c", script], &[], Network::None, drop).unwrap();
        assert!(!printed.success && printed.stdout.is_empty(), "{name}: {printed:?}");
    }
}

/// F19: owners, modes, times and attributes of files outside stay as they are, by every call that there is, and nothing is cut off.
#[test]
fn files_outside_keep_their_modes_times_and_attributes() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(python) = python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "content").unwrap();
    let script = "
import ctypes, fcntl, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
path = sys.argv[1]
def done(name, attempt):
    try:
        result = attempt()
        if result != -1:
            print(name)
    except OSError:
        pass
read = lambda: os.open(path, os.O_RDONLY)
done('chmod', lambda: os.chmod(path, 0o777))
done('fchmod', lambda: os.fchmod(read(), 0o777))
done('fchmodat2', lambda: libc.syscall(452, -100, path.encode(), 0o777, 0))
done('chown', lambda: os.chown(path, os.getuid(), os.getgid()))
done('lchown', lambda: os.lchown(path, os.getuid(), os.getgid()))
done('fchown', lambda: os.fchown(read(), os.getuid(), os.getgid()))
done('utime', lambda: os.utime(path, (1, 1)))
done('futime', lambda: os.utime(read(), (1, 1)))
done('setxattr', lambda: os.setxattr(path, 'user.x', b'1'))
done('fsetxattr', lambda: os.setxattr(read(), 'user.x', b'1'))
done('removexattr', lambda: os.removexattr(path, 'user.kept'))
done('setxattrat', lambda: libc.syscall(463, -100, path.encode(), 0, b'user.x', 0, 0))
done('file_setattr', lambda: libc.syscall(469, -100, path.encode(), 0, 0, 0))
done('flags', lambda: fcntl.ioctl(read(), 0x40086602, struct.pack('l', 0x40)))
done('truncate', lambda: os.truncate(path, 0))
done('open and truncate', lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))
done('openat2', lambda: libc.syscall(437, -100, path.encode(), struct.pack('QQQ', os.O_TRUNC, 0, 0), 24))
done('link', lambda: os.link(path, 'hard'))
done('rename', lambda: os.rename(path, path + '2'))
done('unlink', lambda: os.unlink(path))
";
    let before = std::fs::metadata(&file).unwrap();
    for (name, machine) in machines() {
        // Seen and unseen.
        for read in [&[][..], &[folder.path()]] {
            let said = says(&machine, &[python, "-c", script, file.to_str().unwrap()], read, Network::None);
            assert_eq!(said, "", "{name}");
        }
    }
    let after = std::fs::metadata(&file).unwrap();
    let facts = |about: &std::fs::Metadata| (about.mode(), about.mtime_nsec(), about.ctime_nsec(), about.nlink(), about.len());
    assert_eq!(facts(&before), facts(&after));
}

/// Its own files are its own to change, where mounts can tell them from others.
#[test]
fn own_files_may_be_changed() {
    if is_missing() || !space::works() {
        return;
    }
    let script =
        "echo x > f && chmod 755 f && touch -d 2001-01-01 f && mkdir d && mv f d/f && stat -c '%a %Y' d/f && ./d/f; echo $?";
    let said = says(&Machine::here(), &["sh", "-c", script], &[], Network::None);
    assert!(said.starts_with("755 978307200\n127"), "{said}");
}

/// F19: nothing stays in the machine's temporary folders, nor in its shared memory.
#[test]
fn nothing_stays_in_temporary_folders() {
    if is_missing() {
        return;
    }
    let name = format!("tribunal-left-{}", std::process::id());
    let script =
        format!("for f in /tmp /var/tmp /dev/shm /dev/mqueue /run /run/lock; do echo x > $f/{name}; done 2>/dev/null; echo end");
    for (machine_name, machine) in machines() {
        assert_eq!(says(&machine, &["sh", "-c", &script], &[], Network::None), "end");
        for folder in view::TEMPORARY.iter().chain(&["/dev/mqueue", "/run", "/run/lock"]) {
            assert!(!Path::new(folder).join(&name).exists(), "{machine_name}: {folder}");
        }
    }
    if space::works() {
        // They are there, because programs expect them, and they are small.
        let script = "echo x > /tmp/x && cat /tmp/x; head -c 100000000 /dev/zero > /dev/shm/x 2>/dev/null || echo full";
        assert_eq!(says(&Machine::here(), &["sh", "-c", script], &[], Network::None), "x\nfull");
    }
}

/// Another program's shared memory has a number that can be guessed.
#[test]
fn shared_memory_of_others_is_out_of_reach() {
    let Some(python) = python() else { return };
    let script = "
import ctypes, os, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == 'x86_64'
own, parent = 0, os.getppid()
numbers = dict(shmat=30, setpriority=141, ioprio=251, affinity=203, param=142) if x86 else dict(shmat=196, setpriority=140, ioprio=30, affinity=122, param=118)
def done(name, *arguments):
    if libc.syscall(numbers[name], *arguments) != -1 or ctypes.get_errno() != 1:
        print(name, ctypes.get_errno())
mask, zero = ctypes.c_ulong(1), ctypes.c_int(0)
if sys.argv[1] != '-1':
    done('shmat', int(sys.argv[1]), 0, 0)
for process in (int(sys.argv[2]), parent):
    done('setpriority', 0, process, 19)
    done('ioprio', 1, process, 0)
    done('affinity', process, 8, ctypes.byref(mask))
    done('param', process, ctypes.byref(zero))
done('setpriority', 2, 0, 19)
os.nice(1)
print('end')
";
    // The same calls, made by ourselves: the memory is gone with this process at the latest.
    let memory = shared_memory();
    for (name, machine) in machines() {
        // Where the child has processes of its own, ours has no number there.
        let us = std::process::id().to_string();
        if machine.facts.namespaces {
            continue;
        }
        assert_eq!(says(&machine, &[python, "-c", script, &memory.to_string(), &us], &[], Network::None), "end", "{name}");
    }
    // SAFETY: it is our own, and nobody has it mapped.
    #[allow(unsafe_code)]
    unsafe {
        libc::shmctl(memory, libc::IPC_RMID, std::ptr::null_mut());
    }
}

#[allow(unsafe_code)]
fn shared_memory() -> i32 {
    // SAFETY: a plain system call that makes a segment of our own.
    unsafe { libc::shmget(libc::IPC_PRIVATE, 4096, libc::IPC_CREAT | 0o600) }
}

#[test]
fn signals_do_not_reach_us() {
    if is_missing() {
        return;
    }
    let script = format!("kill -0 {} 2>/dev/null && echo reached; kill -9 $PPID 2>/dev/null; echo end", std::process::id());
    for (name, machine) in machines() {
        assert_eq!(says(&machine, &["sh", "-c", &script], &[], Network::None), "end", "{name}");
    }
}

/// The machine's settings belong to user 0, who needs no privilege to write them.
#[test]
fn settings_of_the_machine_are_not_written() {
    if is_missing() {
        return;
    }
    let script = "exec 2>/dev/null; for f in /proc/sys/kernel/hostname /proc/sys/kernel/core_pattern /proc/sysrq-trigger /proc/self/oom_score_adj /sys/kernel/mm/transparent_hugepage/enabled; do (: >> $f) && echo $f; done; echo end";
    for (name, machine) in machines() {
        assert_eq!(says(&machine, &["sh", "-c", script], &[], Network::None), "end", "{name}");
    }
}

/// What `tribunal doctor` does, on each kind of machine.
#[test]
fn a_child_that_tries_does_not_get_out() {
    if is_missing() {
        return;
    }
    for (name, machine) in machines() {
        assert_eq!(probe::try_to_get_out(&machine), Ok(11), "{name}");
    }
    assert!(strength::examine().holds, "{:?}", strength::examine());
}

/// On machines that have it.
#[test]
fn bubblewrap_gives_the_same() {
    if !bubblewrap::works() {
        eprintln!("SKIPPED: no working bwrap");
        return;
    }
    let facts = Facts { namespaces: false, bubblewrap: true, ..*Facts::measured() };
    let machine = Machine { facts, may_run_unconfined: false };
    let script =
        "cat /etc/shadow; ls /home /root; unshare -U true && echo unshared; echo x > /x && echo written; echo /proc/[0-9]*";
    let printed = on(&machine, &["sh", "-c", script], &[], Network::None, drop).unwrap();
    let seen = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    assert!(seen.starts_with("/proc/1 ") && seen.split_whitespace().count() <= 3, "{seen}");
}
