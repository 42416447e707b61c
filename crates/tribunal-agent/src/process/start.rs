//! How a child is started confined, and how a family is told to end, on each kind of system.

#[cfg(target_os = "linux")]
pub use linux::prepare;
#[cfg(not(target_os = "linux"))]
pub use other::prepare;

#[cfg(target_os = "linux")]
mod linux {
    use crate::process::Invocation;
    use crate::sandbox::bubblewrap::{self, Wrapped};
    use crate::sandbox::enter::{self, Confined};
    use crate::sandbox::{Network, files, space};
    use std::io;
    use std::net::TcpListener;
    use std::process::Command;

    pub struct Started(Confined);

    impl Started {
        pub fn apart(&self) -> bool {
            self.0.apart
        }

        /// Waits for the listener; the child is running by now, so it has been sent if it ever will be.
        pub fn listener(&self) -> Option<TcpListener> {
            self.0.channel.as_ref().and_then(space::receive)
        }
    }

    /// Our own namespaces and Landlock where both are to be had; else bubblewrap where it works; else what there is.
    pub fn prepare(invocation: &Invocation<'_>) -> io::Result<(Command, Started)> {
        let limits = &invocation.limits;
        let own = limits.network == Network::Any || (space::works() && files::level().is_some());
        if limits.apart
            && !own
            && bubblewrap::works()
            && let Some(Wrapped { mut command, filters }) = bubblewrap::wrap(invocation.command, limits, invocation.directory)
        {
            let mut confined = enter::confine_outside(&mut command, limits)?;
            confined.held = filters;
            return Ok((command, Started(confined)));
        }
        let (program, args) = invocation.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(args).current_dir(invocation.directory);
        let confined = enter::confine(&mut command, limits)?;
        Ok((command, Started(confined)))
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use crate::process::Invocation;
    use std::io;
    use std::net::TcpListener;
    use std::process::Command;

    pub struct Started;

    impl Started {
        pub fn apart(&self) -> bool {
            false
        }

        pub fn listener(&self) -> Option<TcpListener> {
            None
        }
    }

    pub fn prepare(invocation: &Invocation<'_>) -> io::Result<(Command, Started)> {
        let (program, args) = invocation.command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command.args(args).current_dir(invocation.directory);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok((command, Started))
    }
}

/// On Linux the keeper ends its family and then itself. Elsewhere there is no keeper, and the group is ended.
pub fn ask_to_end(id: u32) {
    #[cfg(target_os = "linux")]
    send(i64::from(id), libc::SIGTERM);
    #[cfg(not(target_os = "linux"))]
    end_group(id);
}

#[cfg(unix)]
pub fn end_group(id: u32) {
    send(-i64::from(id), libc::SIGKILL);
}

#[cfg(unix)]
pub fn end(id: u32) {
    send(i64::from(id), libc::SIGKILL);
}

#[cfg(unix)]
#[allow(unsafe_code)]
fn send(target: i64, signal: libc::c_int) {
    if let Ok(target) = i32::try_from(target) {
        // SAFETY: kill only sends a signal.
        unsafe {
            libc::kill(target, signal);
        }
    }
}

#[cfg(not(unix))]
pub fn end_group(_id: u32) {}

#[cfg(not(unix))]
pub fn end(_id: u32) {}
