//! How a child is started confined, and how a family is told to end, on each kind of system.

#[cfg(target_os = "linux")]
pub use linux::{Survivors, prepare};
#[cfg(not(target_os = "linux"))]
pub use other::{Survivors, prepare};

use crate::sandbox::NotConfined;

/// Why nothing was started.
pub enum Unstarted {
    NotConfined(NotConfined),
    Io(std::io::Error),
}

impl From<std::io::Error> for Unstarted {
    fn from(error: std::io::Error) -> Self {
        Unstarted::Io(error)
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use super::Unstarted;
    use crate::process::Invocation;
    use crate::sandbox::bubblewrap::{self, Wrapped};
    use crate::sandbox::enter::{self, Confined, stage::Stage, stage::Stages};
    use crate::sandbox::plan::{Machine, Walls};
    use crate::sandbox::space;
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

        pub fn survivors(&self) -> Survivors {
            Survivors(self.0.stage.clone())
        }

        /// What an error means that came before the program ran.
        pub fn explain(&self, error: &io::Error) -> String {
            match self.0.stage.reached() {
                Stage::Program | Stage::Survivors => error.to_string(),
                stage => format!("its sandbox failed while {}: {error}", stage.words()),
            }
        }
    }

    /// What the keeper says at its end of the family.
    pub struct Survivors(Stages);

    impl Survivors {
        pub fn are_left(&self) -> bool {
            self.0.reached() == Stage::Survivors
        }
    }

    pub fn prepare(machine: &Machine, invocation: &Invocation<'_>) -> Result<(Command, Started), Unstarted> {
        let limits = &invocation.limits;
        let plan = machine.plan(limits.network).map_err(Unstarted::NotConfined)?;
        if let Some(plan) = &plan
            && plan.walls == Walls::Bubblewrap
        {
            let unusable = || io::Error::other("bubblewrap cannot be used");
            let mut named = invocation.command.to_vec();
            if let Some(first) = named.first_mut() {
                *first = tribunal_programs::located(first)?.to_string_lossy().into_owned();
            }
            let Wrapped { mut command, filters } = bubblewrap::wrap(&named, limits, invocation.directory).ok_or_else(unusable)?;
            let mut confined = enter::confine(&mut command, limits, plan, invocation.directory)?;
            // After what closes all descriptors.
            bubblewrap::inherit(&mut command, &filters);
            confined.held = filters;
            return Ok((command, Started(confined)));
        }
        let (program, args) = invocation.command.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut command = Command::new(tribunal_programs::located(program)?);
        command.args(args).current_dir(invocation.directory);
        let confined = match &plan {
            Some(plan) => enter::confine(&mut command, limits, plan, invocation.directory)?,
            None => enter::supervise(&mut command, limits)?,
        };
        Ok((command, Started(confined)))
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::Unstarted;
    use crate::process::Invocation;
    use crate::sandbox::plan::Machine;
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

        pub fn survivors(&self) -> Survivors {
            Survivors
        }

        pub fn explain(&self, error: &io::Error) -> String {
            error.to_string()
        }
    }

    /// Nobody keeps the family here.
    pub struct Survivors;

    impl Survivors {
        pub fn are_left(&self) -> bool {
            false
        }
    }

    pub fn prepare(machine: &Machine, invocation: &Invocation<'_>) -> Result<(Command, Started), Unstarted> {
        machine.plan(invocation.limits.network).map_err(Unstarted::NotConfined)?;
        let (program, args) = invocation.command.split_first().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        let mut command = Command::new(tribunal_programs::located(program)?);
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
