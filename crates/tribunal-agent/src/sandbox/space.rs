//! Namespaces of the child's own: it sees no process but its family, no files but those of its [`View`], no network but a loopback on
//! which only we listen, and when its first process ends, by itself or by our hand, the kernel ends all the others, daemons included.
//!
//! Everything here runs between `fork` and `exec`: plain system calls on data that was made before.
#![allow(unsafe_code)]

use super::view::View;
use super::{Limits, Network, Reads};
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsRawFd as _, FromRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::OnceLock;

/// Our proxy's port inside. The network is the child's own, so any number is free.
pub const PORT: u16 = 7411;

/// Does this system let us? Distributions switch it off, and some let it begin and then forbid all use of it, so all of it is tried.
pub fn works() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let limits = Limits::new(Reads::default(), Vec::new(), Network::None);
        let Ok(view) = View::new(&limits, Path::new("/")) else { return false };
        // SAFETY: both children make system calls on what was made before, and end by `_exit`.
        unsafe {
            match libc::fork() {
                -1 => false,
                0 => {
                    if leave(true).is_err() {
                        libc::_exit(1);
                    }
                    match libc::fork() {
                        -1 => libc::_exit(1),
                        0 => {
                            let tried = view.enter().and_then(|()| loopback()).and_then(|()| listen(PORT).map(drop));
                            libc::_exit(i32::from(tried.is_err()))
                        }
                        first => libc::_exit(i32::from(!ends_well(first))),
                    }
                }
                child => ends_well(child),
            }
        }
    })
}

unsafe fn ends_well(child: libc::pid_t) -> bool {
    let mut status = 0;
    // SAFETY: a plain system call on a local.
    unsafe { libc::waitpid(child, &raw mut status, 0) == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0 }
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Leaves the machine's namespaces. The process itself stays in its process namespace; its next child is the first of a new one.
pub unsafe fn leave(own_network: bool) -> io::Result<()> {
    // SAFETY: plain system calls; the strings end with a zero byte or are written with their lengths.
    unsafe {
        let (user, group) = (libc::geteuid(), libc::getegid());
        let network = if own_network { libc::CLONE_NEWNET } else { 0 };
        let all = libc::CLONE_NEWUSER | libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
        done(libc::unshare(all | network))?;
        write(c"/proc/self/setgroups", b"deny")?;
        map(c"/proc/self/uid_map", user)?;
        map(c"/proc/self/gid_map", group)?;
        done(libc::mount(std::ptr::null(), c"/".as_ptr(), std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE, std::ptr::null()))?;
        let name = b"tribunal";
        done(libc::sethostname(name.as_ptr().cast(), name.len()))
    }
}

/// One identity, the same inside as outside.
fn map(file: &std::ffi::CStr, id: u32) -> io::Result<()> {
    use io::Write as _;
    let mut line = [0_u8; 48];
    let mut rest = &mut line[..];
    writeln!(rest, "{id} {id} 1")?;
    let left = rest.len();
    write(file, &line[..line.len() - left])
}

fn write(file: &std::ffi::CStr, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the path ends with a zero byte, the buffer is given with its length, the descriptor is ours.
    unsafe {
        let descriptor = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        done(descriptor)?;
        let written = libc::write(descriptor, bytes.as_ptr().cast(), bytes.len());
        let result = if written < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
        libc::close(descriptor);
        result
    }
}

/// Switches the new network's loopback on.
pub unsafe fn loopback() -> io::Result<()> {
    // SAFETY: `ifreq` is plain data for which zero is valid; the descriptor is ours.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        done(socket)?;
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = *from as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        let result = done(libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut request));
        libc::close(socket);
        result
    }
}

/// Listens inside, for us.
pub unsafe fn listen(port: u16) -> io::Result<TcpListener> {
    TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, port))
}

/// Hands a socket that was made inside to the supervisor outside: a socket belongs to the network it was made in, whoever holds it.
pub unsafe fn hand_over(listener: &TcpListener, channel: RawFd) -> io::Result<()> {
    let byte = [0_u8];
    let mut part = libc::iovec { iov_base: byte.as_ptr() as *mut libc::c_void, iov_len: 1 };
    let mut space = Space([0; 64]);
    // SAFETY: the message points at locals that outlive the call; the control buffer is larger than one descriptor needs.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = space.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(listener.as_raw_fd());
        if libc::sendmsg(channel, &raw const message, libc::MSG_NOSIGNAL) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

#[repr(C, align(8))]
struct Space([u8; 64]);

/// The other end of [`hand_over`], in the supervisor. Nothing if the child never came so far.
pub fn receive(channel: &UnixStream) -> Option<TcpListener> {
    let mut byte = [0_u8];
    let mut part = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    let mut space = Space([0; 64]);
    // SAFETY: as above; the descriptor that arrives is new and belongs to nobody else.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut part;
        message.msg_iovlen = 1;
        message.msg_control = space.0.as_mut_ptr().cast();
        message.msg_controllen = space.0.len() as _;
        if libc::recvmsg(channel.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) <= 0 {
            return None;
        }
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
            return None;
        }
        Some(TcpListener::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
    }
}

/// Gives up all capabilities for good, those of a new user namespace included. It matters for root: the kernel lets `CAP_PERFMON`
/// read any process's environment past Landlock.
pub unsafe fn drop_capabilities() -> io::Result<()> {
    const VERSION: u32 = 0x2008_0522;
    /// No privileges for user 0, now or after any `exec`, and no way back.
    const NO_ROOT: libc::c_ulong = 0b1111;
    let header = [VERSION, 0];
    let nothing = [0_u32; 6];
    // SAFETY: plain system calls; the kernel reads two header words and reads or writes six data words.
    unsafe {
        // Who has none may not drop any either, so it is the outcome that is looked at.
        for capability in 0..64 {
            libc::prctl(libc::PR_CAPBSET_DROP, capability as libc::c_ulong, 0, 0, 0);
        }
        libc::prctl(libc::PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0);
        libc::syscall(libc::SYS_capset, header.as_ptr(), nothing.as_ptr());
        let mut left = [u32::MAX; 6];
        done(libc::syscall(libc::SYS_capget, header.as_ptr(), left.as_mut_ptr()) as libc::c_int)?;
        if left == nothing { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
    }
}
