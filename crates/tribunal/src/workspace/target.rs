//! From what was typed to what is compared.

use crate::cli::ReviewArgs;
use crate::situation::{Situation, exit};
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::{RepoPath, Sha};
use tribunal_core::plan::files::LeftOut;
use tribunal_core::plan::untracked::{UntrackedRules, notices as withheld_notices};
use tribunal_core::procedure::review::{Request, Target};
use tribunal_forge::git::work_file::check_named_path;
use tribunal_forge::git::{GitError, Repository};

pub struct Chosen {
    pub target: Target,
    /// Reviews with the same name build on each other.
    pub case_id: String,
    /// The bytes of a bare diff.
    pub patch: Option<Vec<u8>>,
    /// Untracked files that were too large to take in.
    pub left_out: Vec<LeftOut>,
    /// Untracked files that the person named.
    pub included: BTreeSet<RepoPath>,
    /// What a reader should know of how the names were understood.
    pub notices: Vec<String>,
}

pub fn choose(
    args: &ReviewArgs,
    repository: Option<&Repository>,
    configured_base: Option<&str>,
    max_bytes: u64,
) -> Result<Chosen, Situation> {
    if args.stdin || args.diff_file.is_some() {
        return patch(args);
    }
    let repository = match repository {
        Some(repository) => repository,
        None => return Err(GitError::NotARepository(std::env::current_dir().unwrap_or_default()).into()),
    };
    if args.staged {
        return staged(repository);
    }
    if let Some(commit) = &args.commit {
        let mut notices = Vec::new();
        let head = named(repository, commit, &mut notices)?;
        let base = match repository.first_parent(&head)? {
            Some(parent) => parent,
            None => repository.empty_tree()?,
        };
        let subject = format!("commit {}", head.short());
        return Ok(Chosen { notices, ..chosen(base, head.clone(), subject, format!("commit:{head}")) });
    }
    if let Some(range) = &args.range {
        return between(repository, range);
    }
    branch(args, repository, configured_base, max_bytes)
}

fn chosen(base: Sha, head: Sha, subject: String, case_id: String) -> Chosen {
    Chosen {
        target: Target::Trees { base, head, subject, tip: None },
        case_id,
        patch: None,
        left_out: Vec::new(),
        included: BTreeSet::new(),
        notices: Vec::new(),
    }
}

impl Chosen {
    /// The base is where the head left this branch.
    fn left_from(mut self, branch_tip: Sha) -> Self {
        if let Target::Trees { tip, .. } = &mut self.target {
            *tip = Some(branch_tip);
        }
        self
    }
}

/// Resolves a name that a person typed or configured; of two things with that name, the branch is taken and said to be.
fn named(repository: &Repository, name: &str, notices: &mut Vec<String>) -> Result<Sha, Situation> {
    let named = repository.branch_or_commit(name)?;
    if let Some((taken, other)) = named.instead_of {
        notices.push(format!(
            "`{name}` is the name of a branch and of something else ({}) here; {taken} ({}) is meant.",
            other.short(),
            named.commit.short()
        ));
    }
    Ok(named.commit)
}

fn patch(args: &ReviewArgs) -> Result<Chosen, Situation> {
    let failed = |what: &str, error: std::io::Error| {
        Situation::new("malformed-diff", exit::USAGE, format!("{what} cannot be read: {error}"))
    };
    let (bytes, subject) = match &args.diff_file {
        Some(path) => {
            let name = path.display().to_string();
            let whole =
                check_named_path(path).map_err(|error| Situation::new("malformed-diff", exit::USAGE, error.to_string()))?;
            // It may be a pipe of the shell, so it is not asked to be a regular file.
            let read = std::fs::File::open(whole).and_then(read_patch);
            (read.map_err(|error| failed(&name, error))?, name)
        }
        None => {
            let read = read_patch(std::io::stdin().lock());
            (read.map_err(|error| failed("standard input", error))?, "standard input".to_owned())
        }
    };
    // Refused before anything is recorded, so that a broken diff leaves no run behind.
    tribunal_core::diff::parse::parse_diff(&bytes)?;
    let digest = Sha(sha256_hex(&bytes));
    Ok(Chosen {
        target: Target::Patch { digest: digest.clone(), subject },
        case_id: format!("patch:{digest}"),
        patch: Some(bytes),
        left_out: Vec::new(),
        included: BTreeSet::new(),
        notices: Vec::new(),
    })
}

/// Larger than any change that a review reads whole.
const MAX_PATCH_BYTES: u64 = 256 * 1024 * 1024;

fn read_patch(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MAX_PATCH_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PATCH_BYTES {
        return Err(std::io::Error::other(format!("it is larger than {} MiB", MAX_PATCH_BYTES / (1024 * 1024))));
    }
    Ok(bytes)
}

fn staged(repository: &Repository) -> Result<Chosen, Situation> {
    let head = staged_tree(repository)?;
    let base = match repository.head() {
        Ok(base) => base,
        Err(GitError::Unborn(_)) => repository.empty_tree()?,
        Err(error) => return Err(error.into()),
    };
    let branch = repository.current_branch().unwrap_or_else(|| "HEAD".into());
    Ok(chosen(base, head, "what is staged".into(), format!("staged:{branch}")))
}

fn staged_tree(repository: &Repository) -> Result<Sha, Situation> {
    let index = std::env::var_os("GIT_INDEX_FILE").map(std::path::PathBuf::from).filter(|path| path.exists());
    Ok(repository.snapshot_index(index)?)
}

fn between(repository: &Repository, range: &str) -> Result<Chosen, Situation> {
    let (from, to, since_parting) = match range.split_once("...") {
        Some((from, to)) => (from, to, true),
        None => match range.split_once("..") {
            Some((from, to)) => (from, to, false),
            None => {
                return Err(Situation::new("unknown-revision", exit::USAGE, format!("`{range}` is not a range"))
                    .help("write A..B, or A...B for what B adds since they parted"));
            }
        },
    };
    let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
    let (from, to) = (or_head(from), or_head(to));
    let mut notices = Vec::new();
    let head = named(repository, &to, &mut notices)?;
    let start = named(repository, &from, &mut notices)?;
    let whole = |base| Chosen { notices, ..chosen(base, head.clone(), range.to_owned(), format!("range:{range}")) };
    if !since_parting {
        return Ok(whole(start));
    }
    let base = repository.merge_base(&start, &head, &from, &to)?;
    Ok(whole(base).left_from(start))
}

/// The usual case: what this branch adds to the branch it was made from, uncommitted work included.
fn branch(
    args: &ReviewArgs,
    repository: &Repository,
    configured_base: Option<&str>,
    max_bytes: u64,
) -> Result<Chosen, Situation> {
    let head = repository.head()?;
    let name = repository.current_branch();
    let label = name.clone().unwrap_or_else(|| format!("detached {}", head.short()));
    let mut notices = Vec::new();
    let (base_name, base_tip) = match args.base.as_deref().or(configured_base) {
        Some(name) => (name.to_owned(), named(repository, name, &mut notices)?),
        None => {
            let full = repository.default_branch()?;
            let tip = repository.commit(&full)?;
            (short_ref(&full).to_owned(), tip)
        }
    };
    let base = repository.merge_base(&base_tip, &head, &base_name, &label)?;
    let mut left_out = Vec::new();
    let included = included(&args.include_untracked, repository.work_tree.as_deref())?;
    let mut subject = format!("{label} against {base_name}");
    let mut reviewed = head.clone();
    if !args.committed && repository.work_tree.is_some() {
        let rules = UntrackedRules { max_bytes, included: included.clone() };
        let snapshot = repository.snapshot_work_tree(Some(&base), &rules)?;
        left_out = snapshot.left_out;
        notices.extend(withheld_notices(&snapshot.withheld));
        if snapshot.tree != repository.tree_of(&head)? {
            reviewed = snapshot.tree;
            subject = format!("{label} with uncommitted work against {base_name}");
        }
    }
    let branch = name.unwrap_or_else(|| format!("detached:{head}"));
    let case_id = match &args.base {
        // Against another base than usual it is another change: what is open in one is not closed by a review of the other.
        Some(named) if !is_usual_base(repository, configured_base, named) => format!("branch:{branch} onto {named}"),
        Some(_) | None => format!("branch:{branch}"),
    };
    Ok(Chosen { left_out, included, notices, ..chosen(base, reviewed, subject, case_id) }.left_from(base_tip))
}

fn is_usual_base(repository: &Repository, configured_base: Option<&str>, named: &str) -> bool {
    match configured_base {
        Some(configured) => configured == named,
        None => repository.default_branch().is_ok_and(|full| short_ref(&full) == named),
    }
}

/// Paths as typed in the current folder, seen from the top of the work tree.
fn included(given: &[PathBuf], top: Option<&Path>) -> Result<BTreeSet<RepoPath>, Situation> {
    let here = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
    let inside = |path: &PathBuf| {
        let mut whole = PathBuf::new();
        for part in here.join(path).components() {
            match part {
                Component::ParentDir => drop(whole.pop()),
                Component::CurDir => {}
                other => whole.push(other),
            }
        }
        let found = std::fs::symlink_metadata(&whole).is_ok();
        let name = top.and_then(|top| whole.strip_prefix(top).ok()).filter(|name| found && !name.as_os_str().is_empty());
        name.map(|name| RepoPath(name.to_string_lossy().into_owned())).ok_or_else(|| {
            let text = format!("--include-untracked names {}, which is no file of this work tree", path.display());
            Situation::new("unknown-file", exit::USAGE, text).help("`git status` lists the untracked files")
        })
    };
    given.iter().map(inside).collect()
}

/// A stored run speaks of what it began with. If that is no longer what is there, its result is none for the present head
/// (design rules 1 and 7).
pub fn moved_on(request: &Request, case_id: &str, repository: Option<&Repository>) -> Result<Option<Situation>, Situation> {
    let (Some(repository), Target::Trees { head, subject, .. }) = (repository, &request.target) else { return Ok(None) };
    let Some(now) = present(request, case_id, repository)? else { return Ok(None) };
    // By content: a commit that holds what was uncommitted before is the same work.
    if repository.tree_of(&now)? == repository.tree_of(head)? {
        return Ok(None);
    }
    let happened = format!(
        "this review speaks of {} ({subject}); what is here now is {}, and nobody has read that",
        head.short(),
        now.short()
    );
    Ok(Some(Situation::new("head-moved", exit::INCOMPLETE, happened).help("review what is here now: tribunal review")))
}

/// What a run of this case would read if it began now; nothing where that cannot change.
fn present(request: &Request, case_id: &str, repository: &Repository) -> Result<Option<Sha>, Situation> {
    let (kind, name) = case_id.split_once(':').unwrap_or((case_id, ""));
    match kind {
        "branch" if request.committed_only || repository.work_tree.is_none() => Ok(Some(repository.head()?)),
        "branch" => {
            let rules = UntrackedRules { max_bytes: request.policy.max_bytes, included: request.included.clone() };
            let base = match &request.target {
                Target::Trees { base, .. } => Some(base),
                Target::Patch { .. } => None,
            };
            Ok(Some(repository.snapshot_work_tree(base, &rules)?.tree))
        }
        "staged" => Ok(Some(staged_tree(repository)?)),
        "range" => Ok(Some(match between(repository, name)?.target {
            Target::Trees { head, .. } | Target::Patch { digest: head, .. } => head,
        })),
        _ => Ok(None),
    }
}

fn short_ref(full: &str) -> &str {
    full.strip_prefix("refs/heads/").or_else(|| full.strip_prefix("refs/remotes/")).unwrap_or(full)
}
