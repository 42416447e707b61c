//! Coding-agent CLIs as reviewers: one runner, one profile for each.
//!
//! A CLI is a program that obeys text, and the text is someone's pull request. So the runner gives it nothing worth stealing and
//! nowhere to go: an empty working folder, a home made for this one run, a read-only copy of the tree without any agent's own files
//! ([`crate::tree`]), a word instead of a key ([`proxy`]), and the sandbox around all of it ([`crate::sandbox`]). What a profile's
//! flags forbid on top of that is good manners, not the boundary.
//!
//! The prompt goes in on standard input; nothing of it is ever an argument. What comes out is text, not yet believed.

use crate::model::schema::{Bounds, strict};
use crate::process::{Company, Invocation, Printed, Pulse, Stopped, Why, run_on};
use crate::sandbox::plan::Machine;
use crate::sandbox::{Limits, Network, Reads};
use profile::{Ending, Plan, Reading, Setting};
use proxy::{Account, Budget, Proxy, Upstream};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tribunal_core::call::fault::Fault;
use tribunal_core::call::money::Money;
use tribunal_core::call::price::{Price, PriceList};
use tribunal_core::call::usage::Usage;
use tribunal_core::call::{Answer, Question};
use tribunal_core::policy::agents::{Cli, CliConfig};

mod claude;
mod codex;
mod copilot;
pub mod found;
mod gemini;
mod home;
mod opencode;
mod profile;
mod prompt;
pub mod proxy;

/// Turns for one answer, unless the config says otherwise.
const TURNS: u32 = 24;
/// Requests beyond one for each turn: retries, a reminder of the schema, a title.
const SPARE_REQUESTS: u64 = 12;

/// A CLI, set up to play a role.
#[derive(Clone, Copy)]
pub struct CliAgent<'a> {
    pub cli: Cli,
    pub config: &'a CliConfig,
    /// Of the API behind it; the CLI never has it.
    pub key: Option<&'a str>,
    /// A read-only copy of the reviewed head, scrubbed. Without one it sees the prompt alone.
    pub tree: Option<&'a Path>,
    /// What this answer may cost, where the model's price is known. A soft limit: the call that crosses it is still paid.
    pub cap: Option<Money>,
    /// Where its home is made. A folder that only we can write to, and not below `/tmp`: Gemini ignores settings below folders that
    /// everyone can write to, and Codex complains.
    pub scratch_root: &'a Path,
}

impl std::fmt::Debug for CliAgent<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CliAgent").field("cli", &self.cli).field("model", &self.config.model).finish_non_exhaustive()
    }
}

/// What a failed call had used by then.
pub type Failed = (Fault, Usage);

impl CliAgent<'_> {
    /// Asks once, and blocks until there is an answer or a clock has run out. The calling thread supervises the CLI.
    pub fn ask(&self, question: &Question) -> Result<Answer, Failed> {
        let plainly = |fault: Fault| (fault, Usage::default());
        if self.cli == Cli::Aider {
            return Err(plainly(wrong("aider only edits files: it can play the fixer, not a reviewer")));
        }
        // Both vendors' structured output takes only the strict form; the others are shown it in the prompt, where it does no harm.
        let question = &Question { schema: strict(&question.schema, Bounds::Drop), ..question.clone() };
        let program = self.config.program.as_deref().unwrap_or(self.cli.program());
        let program = found::locate(program).ok_or_else(|| plainly(wrong(&format!("`{program}` is not on the PATH"))))?;
        let home = home::Home::create(self.scratch_root)
            .map_err(|error| plainly(wrong(&format!("no folder for it under {}: {error}", self.scratch_root.display()))))?;
        let broken = |error: std::io::Error| plainly(Fault::Nonsense { message: error.to_string() });
        let token = crate::token().map_err(broken)?;
        let machine = Machine::here();
        let port = Port::choose(&machine).map_err(broken)?;
        let is_held_by_landlock_alone = matches!(machine.plan(Network::Port(port.number)), Ok(Some(plan)) if plan.calls.metadata);
        if is_held_by_landlock_alone && sets_modes_and_times(self.cli) {
            return Err(plainly(wrong(
                "it sets modes and times of its own files, and with Landlock alone these cannot be told from others'; it needs user \
                 namespaces or bubblewrap here",
            )));
        }
        let setting = Setting {
            model: &self.config.model,
            effort: self.config.effort,
            turns: self.config.max_turns.unwrap_or(TURNS),
            cap: self.cap,
            address: format!("http://127.0.0.1:{}", port.number),
            token: &token,
            home: &home,
            tree: self.tree,
            question,
            is_confined: matches!(machine.plan(Network::Port(port.number)), Ok(Some(_))),
        };
        let plan = profile::plan(self.cli, &setting);
        home.write(&plan.files).map_err(broken)?;
        let input = prompt::text(question, self.tree, plan.system_is_apart, plan.schema_is_apart);
        let (directory, limits) = (home.work(), self.limits(&program, &home, port.number));
        self.run(&setting, Staged { machine, program: &program, home: &home, plan: &plan, input, port, directory, limits })
    }

    fn limits(&self, program: &found::Program, home: &home::Home, port: u16) -> Limits {
        let reads = Reads { read: self.tree.map(Path::to_owned).into_iter().collect(), ..program.reads() };
        Limits::new(reads, vec![home.path().to_owned()], Network::Port(port))
    }

    fn price(&self) -> Option<Price> {
        self.config.price.or_else(|| PriceList::built_in().find(&self.config.model))
    }

    fn budget(&self) -> Option<Budget> {
        Some(Budget { price: self.price()?, cap: self.cap? })
    }

    fn run(&self, setting: &Setting<'_>, staged: Staged<'_>) -> Result<Answer, Failed> {
        let Staged { machine, program, home, plan, input, port, directory, limits } = staged;
        let pulse = Arc::new(Pulse::of_a_model());
        let upstream = Upstream {
            wire: self.cli.wire(),
            base_url: self.config.base_url.clone().unwrap_or_else(|| self.cli.wire().base_url().to_owned()),
            key: self.key.map(str::to_owned),
            token: setting.token.to_owned(),
            model: profile::pinned(self.cli, &self.config.model),
            max_requests: u64::from(setting.turns) + SPARE_REQUESTS,
            budget: self.budget(),
        };
        let proxy = std::cell::RefCell::new(None);
        let open = |listener: TcpListener| *proxy.borrow_mut() = Some(Proxy::serve(listener, upstream, Arc::clone(&pulse)));
        let mut open = Some(open);
        if let (Some(listener), Some(open)) = (port.listener, open.take_if(|_| port.is_ours)) {
            open(listener);
        }
        let mut command = program.command.clone();
        command.extend(plan.args.iter().cloned());
        let mut set = home.environment(program);
        set.extend(plan.env.iter().cloned());
        let clocks = self.config.clocks.for_cli();
        let invocation = Invocation {
            command: &command,
            input: input.into_bytes(),
            directory: &directory,
            scratch: home.path(),
            env: &[],
            set: &set,
            limits,
            clocks: crate::process::Clocks {
                first_byte: Some(Duration::from_secs(clocks.first_byte)),
                idle: Some(Duration::from_secs(clocks.idle)),
                total: Duration::from_secs(clocks.total),
            },
        };
        let door = open.map(|open| Box::new(open) as Box<dyn FnOnce(TcpListener)>);
        let ended = run_on(&machine, &invocation, Company { on_line: None, pulse: Some(&pulse), door });
        let account = match proxy.take() {
            Some(Ok(proxy)) => proxy.account(),
            Some(Err(error)) => return Err((Fault::Nonsense { message: error.to_string() }, Usage::default())),
            None => Account::default(),
        };
        match ended {
            Ok(printed) => judge(self.cli, &printed, home, account, self.price().is_some()),
            Err(stopped) => {
                let told = profile::read(self.cli, &Ending::cut_short(&stopped.stdout, home)).usage;
                let usage = spent(&account, told, self.price().is_some());
                Err((stop(stopped, account), usage))
            }
        }
    }
}

/// One run, ready to start.
struct Staged<'a> {
    machine: Machine,
    program: &'a found::Program,
    home: &'a home::Home,
    plan: &'a Plan,
    input: String,
    port: Port,
    directory: PathBuf,
    limits: Limits,
}

/// Where the child finds the proxy: in its own network where it has one, else here.
struct Port {
    number: u16,
    listener: Option<TcpListener>,
    is_ours: bool,
}

impl Port {
    fn choose(machine: &Machine) -> std::io::Result<Self> {
        #[cfg(target_os = "linux")]
        if machine.facts.namespaces {
            return Ok(Self { number: crate::sandbox::space::PORT, listener: None, is_ours: false });
        }
        Self::here()
    }

    fn here() -> std::io::Result<Self> {
        let listener = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        Ok(Self { number: listener.local_addr()?.port(), listener: Some(listener), is_ours: true })
    }
}

/// Copilot unpacks itself; Gemini locks its files by their times, and would wait for its lock until its clock runs out.
fn sets_modes_and_times(cli: Cli) -> bool {
    match cli {
        Cli::Gemini | Cli::Copilot => true,
        Cli::Claude | Cli::Codex | Cli::Opencode | Cli::Aider => false,
    }
}

fn wrong(message: &str) -> Fault {
    Fault::BadRequest { status: 400, message: message.to_owned() }
}

/// Says what a finished run came to. The CLI's own word is the last resort: it may call anything a success, and any refusal
/// "an error".
fn judge(cli: Cli, printed: &Printed, home: &home::Home, account: Account, has_price: bool) -> Result<Answer, Failed> {
    let Reading { text, usage, stated_cost, fault } = profile::read(cli, &Ending::of(printed, home));
    let usage = spent(&account, usage, has_price);
    // Where the vendor's count has a price, the CLI's own word of its cost is not needed, and could be any.
    let stated_cost = stated_cost.filter(|_| !has_price);
    let problem = fault.or_else(|| (!printed.success).then(|| unexplained(printed)));
    match (text.filter(|text| !text.trim().is_empty()), problem) {
        (Some(_), None) if account.answers == 0 => {
            Err((explain(&account).unwrap_or(Fault::Nonsense { message: "it answered without asking its model".into() }), usage))
        }
        (Some(text), None) => Ok(Answer { text, usage, stated_cost }),
        (_, problem) => {
            let silent = || Fault::Nonsense { message: format!("it gave no answer{}", said(printed)) };
            Err((explain(&account).or(problem).unwrap_or_else(silent), usage))
        }
    }
}

/// The vendor's count, which passed through the proxy, before the CLI's. Of an answer that nobody counted the worst case stands,
/// unless it has no price: then what the CLI says is nearer to the truth.
fn spent(account: &Account, told: Usage, has_price: bool) -> Usage {
    let is_counted = if has_price { !account.usage.is_nothing() } else { !account.counted.is_nothing() };
    if is_counted { account.usage } else { told }
}

/// What the proxy knows of a failure.
fn explain(account: &Account) -> Option<Fault> {
    if account.is_used_up {
        return Some(Fault::Nonsense { message: format!("it asked its model {} times and came to no answer", account.requests) });
    }
    if account.is_out_of_money {
        return Some(Fault::OutOfQuota { retry_after: None, message: "this answer's money is used up".into() });
    }
    let refusal =
        || account.refusal.as_ref().map(|words| wrong(&format!("Tribunal's proxy refused a request of the CLI: {words}")));
    account.fault.clone().or_else(refusal)
}

fn unexplained(printed: &Printed) -> Fault {
    Fault::Nonsense { message: format!("it ended with {}{}", printed.exit, said(printed)) }
}

fn said(printed: &Printed) -> String {
    match printed.stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("; it said: {}", tribunal_core::findings::admit::one_line(line)),
        None => String::new(),
    }
}

/// A CLI that waits and tries again until its time is over hides the reason; the proxy has it.
fn stop(stopped: Stopped, account: Account) -> Fault {
    match stopped.why {
        Why::NoFirstByte { seconds } => account.fault.unwrap_or(Fault::NoFirstByte { seconds }),
        Why::Stalled { seconds } => account.fault.unwrap_or(Fault::Stalled { seconds }),
        Why::OutOfTime { seconds } => account.fault.unwrap_or(Fault::OutOfTime { seconds }),
        Why::Flood { mebibytes } => Fault::Endless { mebibytes },
        why @ (Why::NotStarted { .. }
        | Why::NotConfined(_)
        | Why::Memory { .. }
        | Why::Survivors { .. }
        | Why::Processes { .. }
        | Why::Disk { .. }
        | Why::Broken(_)) => Fault::Nonsense { message: why.to_string() },
    }
}

#[cfg(test)]
mod tests;
#[cfg(all(test, target_os = "linux"))]
mod weakened;
