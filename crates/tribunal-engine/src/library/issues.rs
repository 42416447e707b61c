//! The issues of a forge, kept as pages in a folder and read on from where the last reading ended (SL-84 to SL-87, SL-106).

use super::records::put;
use super::{Found, Library, LibraryTrouble};
use crate::effects::blocking;
use crate::{EngineError, now};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use tribunal_context::index::{Fresh, Index, IndexError, Reader, Refreshed};
use tribunal_core::library::issue_page::{self, file_name};
use tribunal_core::library::page::Kind;
use tribunal_core::library::question::Question;
use tribunal_core::library::sync::{Came, Counts, Meta, PAUSES};
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_core::pull::facts::Issue;
use tribunal_core::pull::fault::ForgeFault;

const META: &str = "_meta.json";
/// Words of a change that the forge itself is asked for.
const LIVE_WORDS: usize = 4;

/// What became of a sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Synced {
    /// They were read a moment ago.
    Fresh,
    Done(Counts),
    /// There is no forge to ask.
    Nobody,
    Failed(String),
}

impl Library {
    /// Where the pages lie.
    pub fn issue_folder(&self) -> PathBuf {
        self.folder.join("issues")
    }

    /// Never more often than every five minutes.
    pub async fn sync_issues(&self) -> Synced {
        let _turn = self.turn.lock().await;
        let Some(forge) = &self.forge else { return Synced::Nobody };
        let folder = self.issue_folder();
        let meta = fs::read_to_string(folder.join(META)).ok().and_then(|text| Meta::read(&text)).unwrap_or_default();
        if meta.is_fresh(&self.tracker, now()) {
            return Synced::Fresh;
        }
        let since = meta.since(&self.tracker);
        let listed = match self.listed(forge.as_ref(), since.as_deref()).await {
            Ok(listed) => listed,
            Err(fault) => return Synced::Failed(fault.to_string()),
        };
        let tracker = self.tracker.clone();
        let kept = blocking(move || keep(&folder, &meta, &tracker, &listed)).await;
        match kept {
            Ok(Ok(counts)) => Synced::Done(counts),
            Ok(Err(error)) => Synced::Failed(error.to_string()),
            Err(error) => Synced::Failed(error.to_string()),
        }
    }

    /// SL-87: what may pass is tried again; what a token may not see never is.
    async fn listed(&self, forge: &dyn tribunal_forge::port::Forge, since: Option<&str>) -> Result<Vec<Issue>, ForgeFault> {
        for pause in PAUSES {
            match forge.issues_since(since).await {
                Err(fault) if fault.may_pass() => tokio::time::sleep(Duration::from_millis(pause)).await,
                answered => return answered,
            }
        }
        forge.issues_since(since).await
    }

    /// The pages into their collection.
    pub(super) async fn shelve_issues(&self, library: &LibraryPolicy) -> Result<Refreshed, LibraryTrouble> {
        let (pages, folder) = (self.issue_folder(), self.index_folder(library));
        self.when_free(move || {
            let stamps = stamps(&pages)?;
            let mut index = Index::open(&folder, Kind::Issue)?;
            let known = index.sources();
            let gone: Vec<String> = known.keys().filter(|source| !stamps.contains_key(*source)).cloned().collect();
            let changed: Vec<(String, (PathBuf, String))> = stamps
                .into_iter()
                .filter(|(source, (_, stamp))| known.get(source).is_none_or(|entry| entry.stamp != *stamp))
                .collect();
            let mut fresh = Vec::new();
            for (source, (path, stamp)) in changed {
                let read = issue_page::read(&fs::read_to_string(path)?);
                let pages = read.map(|(front, body)| vec![issue_page::page(&front, &body)]).unwrap_or_default();
                fresh.push(Fresh { source, stamp, pages });
            }
            index.refresh(fresh, &gone)
        })
        .await
    }

    /// SL-106: what the forge itself finds, ranked as everything else is.
    pub(super) async fn ask_forge(&self, question: &Question) -> Result<Found, LibraryTrouble> {
        let Some(forge) = &self.forge else { return Ok(Found::default()) };
        let mut issues: BTreeMap<u64, Issue> = BTreeMap::new();
        for word in question.words.iter().take(LIVE_WORDS) {
            let found = forge.find_issues(word).await.map_err(EngineError::from)?;
            issues.extend(found.into_iter().map(|issue| (issue.number, issue)));
        }
        let (question, tracker) = (question.clone(), self.tracker.clone());
        let hits = blocking(move || -> Result<_, IndexError> {
            let aside = tempfile::tempdir()?;
            let fresh: Vec<Fresh> = issues.values().filter_map(|issue| live(issue, &tracker)).collect();
            put(aside.path(), Kind::Issue, &fresh, &[])?;
            Reader::open(aside.path(), Kind::Issue)?.search(&question, None)
        });
        Ok(Found { hits: hits.await??, notices: Vec::new() })
    }
}

fn live(issue: &Issue, tracker: &str) -> Option<Fresh> {
    let (front, body) = issue_page::read(&issue_page::write(issue, tracker))?;
    let page = issue_page::page(&front, &body);
    Some(Fresh { source: page.source.clone(), stamp: issue.updated_at.clone(), pages: vec![page] })
}

/// Page by page; one that cannot be written is read again next time.
fn keep(folder: &Path, meta: &Meta, tracker: &str, listed: &[Issue]) -> io::Result<Counts> {
    fs::create_dir_all(folder)?;
    let mut came = Vec::new();
    for issue in listed {
        let path = folder.join(file_name(issue.number));
        let (text, before) = (issue_page::write(issue, tracker), fs::read_to_string(&path).ok());
        let how = match before {
            Some(before) if before == text => Came::Same,
            before => match replace(&path, &text) {
                Ok(()) if before.is_some() => Came::Changed,
                Ok(()) => Came::New,
                Err(_) => Came::Lost,
            },
        };
        came.push((issue.updated_at.clone(), how));
    }
    let after = meta.after(tracker, &came, true, now());
    replace(&folder.join(META), &serde_json::to_string_pretty(&after)?)?;
    Ok(after.sync_counts)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    fs::write(&aside, text)?;
    fs::rename(&aside, path)
}

/// Source to file and stamp.
fn stamps(folder: &Path) -> io::Result<BTreeMap<String, (PathBuf, String)>> {
    let mut stamps = BTreeMap::new();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(stamps),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = entry?.path();
        let number = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(".md"));
        let Some(number) = number.and_then(|number| number.parse::<u64>().ok()) else { continue };
        let meta = fs::metadata(&path)?;
        let written = meta.modified()?.duration_since(UNIX_EPOCH).map_or(0, |at| at.as_nanos());
        stamps.insert(format!("#{number}"), (path, format!("{written}-{}", meta.len())));
    }
    Ok(stamps)
}
