//! The `qmd` command in the place of the built-in index. Its words are the core's; here it is only run.

use super::{Found, Library, LibraryTrouble};
use crate::effects::blocking;
use crate::now;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};
use tribunal_agent::AgentFailure;
use tribunal_agent::process::{Clocks, Invocation, run};
use tribunal_agent::sandbox::{Limits, Network, Reads};
use tribunal_core::library::external::{Rung, collection, has_collection, query, read};
use tribunal_core::library::page::Kind;
use tribunal_core::library::question::Question;
use tribunal_core::library::sync::EXTERNAL_FOR;
use tribunal_core::policy::library::{LibraryPolicy, QmdConfig};

const TIMEOUT: u64 = 60;
const TOLD: &str = "qmd-told";
/// Where it keeps its index, its models and its list of collections, in the home of whoever configured it. It writes nowhere else.
const OWN: [&str; 3] = [".cache/qmd", ".config/qmd", ".local/share/qmd"];

impl Library {
    pub(super) async fn ask_external(
        &self,
        qmd: &QmdConfig,
        library: &LibraryPolicy,
        question: &Question,
        kinds: &[Kind],
    ) -> Result<Found, LibraryTrouble> {
        self.tell_if_old(qmd).await?;
        let mut found = Found::default();
        for kind in kinds {
            let name = collection(&qmd.collection, library.places.module.as_deref(), *kind);
            let mut rung = Rung::FIRST;
            let printed = loop {
                match self.type_in(qmd, &query(rung, &name, question)).await? {
                    Ok(printed) => break printed,
                    Err(Silence::Late) => match rung.next() {
                        Some(next) => rung = next,
                        None => return Err(trouble(qmd, "it did not answer in time, not even by words alone".into())),
                    },
                    Err(Silence::Failed(problem)) => return Err(trouble(qmd, problem)),
                }
            };
            if rung == Rung::Words {
                found.notices.push(format!("`{}` answered by words alone: by meaning it took too long.", program(qmd)));
            }
            found.hits.extend(read(&printed, *kind, question).map_err(|problem| trouble(qmd, problem))?);
        }
        found.hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        found.hits.truncate(question.limit);
        Ok(found)
    }

    /// SL-43, SL-88: it answers, and has the collections of this repository.
    pub async fn check_external(&self, library: &LibraryPolicy) -> Result<(), LibraryTrouble> {
        is_trusted(library)?;
        let Some(qmd) = &library.qmd else { return Ok(()) };
        let listed = match self.type_in(qmd, &["collection".into(), "list".into()]).await? {
            Ok(listed) => listed,
            Err(Silence::Late) => return Err(trouble(qmd, "it does not answer".into())),
            Err(Silence::Failed(problem)) => return Err(trouble(qmd, problem)),
        };
        for kind in [Kind::Decision, Kind::Issue] {
            let name = collection(&qmd.collection, library.places.module.as_deref(), kind);
            if !has_collection(&listed, &name) {
                return Err(trouble(qmd, format!("it has no collection {name}")));
            }
        }
        Ok(())
    }

    /// SL-69: told to read everything anew.
    pub async fn tell_external(&self, library: &LibraryPolicy) -> Result<(), LibraryTrouble> {
        is_trusted(library)?;
        let Some(qmd) = &library.qmd else { return Ok(()) };
        match self.type_in(qmd, &["update".into()]).await? {
            Ok(_) => {
                let stamp = self.folder.join(TOLD);
                blocking(move || {
                    std::fs::create_dir_all(stamp.parent().unwrap_or(&stamp)).and_then(|()| std::fs::write(&stamp, b""))
                })
                .await?
                .map_err(|error| trouble(qmd, error.to_string()))
            }
            Err(Silence::Late) => Err(trouble(qmd, "it did not finish reading in time".into())),
            Err(Silence::Failed(problem)) => Err(trouble(qmd, problem)),
        }
    }

    /// SL-89: what it was told long ago is old.
    async fn tell_if_old(&self, qmd: &QmdConfig) -> Result<(), LibraryTrouble> {
        let told = std::fs::metadata(self.folder.join(TOLD)).and_then(|meta| meta.modified()).ok();
        let told = told.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |at| at.as_millis() as u64);
        let age = qmd.max_age.map_or(EXTERNAL_FOR, |age| age.as_millis());
        if now().saturating_sub(told) < age {
            return Ok(());
        }
        match self.type_in(qmd, &["update".into()]).await? {
            // What it has is asked all the same; that it is old was the smaller evil.
            Ok(_) | Err(Silence::Late) => {
                let _ = std::fs::create_dir_all(&self.folder).and_then(|()| std::fs::write(self.folder.join(TOLD), b""));
                Ok(())
            }
            Err(Silence::Failed(problem)) => Err(trouble(qmd, problem)),
        }
    }

    async fn type_in(&self, qmd: &QmdConfig, args: &[String]) -> Result<Result<String, Silence>, LibraryTrouble> {
        let mut command = qmd.command.clone().unwrap_or_else(|| vec!["qmd".to_owned()]);
        command.extend(args.iter().cloned());
        let clocks = Clocks::total(Duration::from_secs(qmd.timeout.map_or(TIMEOUT, |timeout| timeout.as_seconds())));
        let (scratch, env, read) = (self.scratch.clone(), qmd.env.clone(), qmd.read.clone());
        let printed = blocking(move || {
            std::fs::create_dir_all(&scratch).map_err(|error| AgentFailure::Failed(error.to_string()))?;
            let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
            let set = [("HOME".to_owned(), home.display().to_string())];
            let writable: Vec<PathBuf> = std::iter::once(scratch.clone()).chain(OWN.map(|folder| home.join(folder))).collect();
            let reads = Reads::of_command(&command, &read).map_err(AgentFailure::Failed)?;
            run(&Invocation {
                command: &command,
                input: Vec::new(),
                directory: &scratch,
                scratch: &scratch,
                env: &env,
                set: &set,
                limits: Limits::new(reads, writable, Network::open(true)),
                clocks,
            })
        })
        .await?;
        Ok(match printed {
            Ok(printed) if printed.success => Ok(String::from_utf8_lossy(&printed.stdout).into_owned()),
            Ok(printed) => {
                let said = printed.stderr.lines().last().unwrap_or_default().trim().to_owned();
                Err(Silence::Failed(if said.is_empty() { format!("it ended with {}", printed.exit) } else { said }))
            }
            Err(AgentFailure::TimedOut { .. }) => Err(Silence::Late),
            Err(failure) => Err(Silence::Failed(failure.to_string())),
        })
    }
}

/// SL-43: without the index that was asked for nothing is looked up, also where it may not be asked.
pub(super) fn is_trusted(library: &LibraryPolicy) -> Result<(), LibraryTrouble> {
    match &library.qmd_not_trusted {
        None => Ok(()),
        Some(why) => Err(LibraryTrouble::External { command: "qmd".to_owned(), problem: why.clone() }),
    }
}

enum Silence {
    Late,
    Failed(String),
}

fn program(qmd: &QmdConfig) -> &str {
    qmd.command.as_ref().and_then(|command| command.first()).map_or("qmd", String::as_str)
}

fn trouble(qmd: &QmdConfig, problem: String) -> LibraryTrouble {
    LibraryTrouble::External { command: program(qmd).to_owned(), problem }
}
