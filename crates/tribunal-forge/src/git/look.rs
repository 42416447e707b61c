//! Small questions that a forge asks of git.

use super::class::UntrustedTree;
use super::object_cache::ObjectCache;
use super::{GitError, Repository};
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::diff::parse::text_of;
use tribunal_core::feedback::lint::Past;
use tribunal_core::ids::Sha;

impl Repository {
    /// Where a branch of this repository stands. The full name is asked for, so that no tag can answer.
    pub fn branch_tip(&self, branch: &str) -> Option<Sha> {
        self.commit(&format!("refs/heads/{branch}")).ok()
    }

    /// Where these branches stand, asked for all at once; those that do not exist are left out.
    pub fn branch_tips(&self, branches: &BTreeSet<&str>) -> BTreeMap<String, Sha> {
        let wanted: BTreeSet<String> = branches.iter().map(|branch| format!("refs/heads/{branch}")).collect();
        if wanted.is_empty() {
            return BTreeMap::new();
        }
        let args = std::iter::once("--format=%(objectname) %(refname)").chain(wanted.iter().map(String::as_str));
        let listed = self.ask_text(UntrustedTree::ForEachRef, args).unwrap_or_default();
        // A pattern also matches the branches of a folder of its name.
        let tips = listed.lines().filter_map(|line| line.split_once(' ')).filter(|(_, name)| wanted.contains(*name));
        tips.filter_map(|(id, name)| Some((name.strip_prefix("refs/heads/")?.to_owned(), Sha::from(id)))).collect()
    }

    pub fn is_branch_name(&self, name: &str) -> bool {
        !name.starts_with('-') && self.ask(UntrustedTree::CheckRefFormat, [format!("refs/heads/{name}")]).is_ok()
    }

    /// Is the first commit part of the second's history?
    pub fn is_ancestor(&self, earlier: &Sha, later: &Sha) -> bool {
        if let Some(answer) = self.cache().ancestors.get(&(earlier.clone(), later.clone())) {
            return *answer;
        }
        let asked = self.on_tree(UntrustedTree::MergeBase).args(["--is-ancestor", earlier.as_str(), later.as_str()]);
        let answer = asked.output(None).ok().and_then(|answer| match answer.code {
            Some(0) => Some(true),
            Some(1) => Some(false),
            _ => None,
        });
        // A missing commit may be fetched, and so may the history that a shallow clone lacks.
        let is_final = answer == Some(true) || answer == Some(false) && !self.common_dir.join("shallow").exists();
        if is_final {
            ObjectCache::keep_pair(&mut self.cache().ancestors, (earlier, later), answer == Some(true));
        }
        answer == Some(true)
    }

    pub fn git_version(&self) -> Result<String, GitError> {
        Ok(super::git_version()?.trim_start_matches("git version ").to_owned())
    }

    pub fn count_changed(&self, old: &Sha, new: &Sha) -> Result<u64, GitError> {
        if let Some(count) = self.cache().changed_files.get(&(old.clone(), new.clone())) {
            return Ok(*count);
        }
        let listed = self.comparing(old, new, |git| {
            git.args(["-r", "-z", "-M", "--name-only", "--no-commit-id", old.as_str(), new.as_str()])
        })?;
        let count = listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()).count() as u64;
        ObjectCache::keep_pair(&mut self.cache().changed_files, (old, new), count);
        Ok(count)
    }

    /// Is there a commit of this author in the branch that changes are made against?
    pub fn has_commit_by(&self, email: &str) -> bool {
        let Ok(branch) = self.default_branch() else { return false };
        let author = format!("--author=<{email}>");
        let found =
            self.ask_text(UntrustedTree::RevList, ["-1", "--fixed-strings", "--regexp-ignore-case", &author, &branch, "--"]);
        !email.is_empty() && found.is_ok_and(|commit| !commit.is_empty())
    }

    /// The commits of a branch above its base, newest first, without those that a merge brought in.
    pub fn history(&self, base: &Sha, head: &Sha) -> Result<Vec<Past>, GitError> {
        let range = format!("{base}..{head}");
        let format = "--format=%H%x1f%P%x1f%B";
        let args = ["-z", "--first-parent", "--no-show-signature", format, "--end-of-options", &range, "--"];
        let listed = self.ask(UntrustedTree::Log, args)?;
        let commits = listed.split(|byte| *byte == 0).filter_map(|entry| {
            let entry = text_of(entry);
            let mut parts = entry.trim_start().splitn(3, '\u{1f}');
            let (sha, parents) = (parts.next()?, parts.next()?);
            Some(Past {
                sha: Sha::new(sha),
                parent: parents.split(' ').next().filter(|parent| !parent.is_empty()).map(Sha::new),
                is_merge: parents.split_whitespace().nth(1).is_some(),
                message: parts.next()?.to_owned(),
            })
        });
        Ok(commits.collect())
    }

    /// The messages of what one branch has and the other does not, newest first; two are enough to tell one from many.
    pub fn messages_between(&self, base: &str, head: &str) -> Result<Vec<String>, GitError> {
        let range = format!("refs/heads/{base}..refs/heads/{head}");
        let args = ["-2", "-z", "--no-show-signature", "--format=%B", "--end-of-options", &range, "--"];
        let listed = self.ask(UntrustedTree::Log, args)?;
        let messages = listed.split(|byte| *byte == 0).map(|message| text_of(message).trim().to_owned());
        Ok(messages.filter(|message| !message.is_empty()).collect())
    }
}
