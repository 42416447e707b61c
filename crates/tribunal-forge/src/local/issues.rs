//! Issues, and what issues and pull requests have in common: labels, and who is asked.

use super::book::{Kind, Wrote};
use super::fault::LocalFault;
use super::{Local, Locally, malformed, now, read, write};
use crate::port::{Answered, Issues};
use async_trait::async_trait;
use tribunal_core::calendar::millis_of;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::desk::act::{Act, Command};
use tribunal_core::pull::desk::{Desk, Subject, apply};
use tribunal_core::pull::facts::Issue;
use tribunal_core::pull::talk::NewIssue;

impl Local {
    pub async fn issue_of(&self, number: u64) -> Locally<Issue> {
        let desk = self.desk(number, Kind::Issue).await?;
        desk.issue(number).ok_or(LocalFault::NoSuch { what: "issue", number })
    }

    pub async fn open_issue(&self, new: &NewIssue) -> Locally<Issue> {
        let mut desk = Desk::open(&new.title, &new.body, &self.me, Subject::Issue { open: true }, now()).map_err(malformed)?;
        for label in &new.labels {
            let command = Command { by: self.me.clone(), act: Act::Label { label: label.to_string() } };
            desk = apply(&desk, command, now()).map_err(malformed)?.desk;
        }
        match self.book.add(Kind::Issue, None, &write(&desk, 0)?).await? {
            Wrote::Done(number) => desk.issue(number).ok_or(LocalFault::NoSuch { what: "issue", number }),
            Wrote::Late | Wrote::Claimed(_) => Err(LocalFault::Contended),
        }
    }

    /// Those with all of these words, by number.
    pub async fn issues_with(&self, words: &str) -> Locally<Vec<Issue>> {
        let mut found = Vec::new();
        for page in self.book.list(Kind::Issue).await? {
            let desk = read(&page)?;
            found.extend(desk.issue(page.number).filter(|_| desk.mentions(words)));
        }
        Ok(found)
    }

    pub async fn set_issue(&self, number: u64, open: bool) -> Locally<()> {
        self.desk(number, Kind::Issue).await?;
        self.change(number, if open { Act::Reopen } else { Act::Close }).await.map(drop)
    }
}

#[async_trait]
impl Issues for Local {
    async fn issue(&self, number: u64) -> Answered<Issue> {
        Ok(self.issue_of(number).await?)
    }

    async fn find_issues(&self, words: &str) -> Answered<Vec<Issue>> {
        Ok(self.issues_with(words).await?)
    }

    async fn issues_since(&self, since: Option<&str>) -> Answered<Vec<Issue>> {
        let since = since.and_then(millis_of).unwrap_or(0);
        let mut issues = self.issues_with("").await?;
        issues.retain(|issue| millis_of(&issue.updated_at).is_none_or(|updated| updated >= since));
        Ok(issues)
    }

    async fn create_issue(&self, issue: &NewIssue) -> Answered<Issue> {
        Ok(self.open_issue(issue).await?)
    }

    async fn close_issue(&self, number: u64) -> Answered<()> {
        Ok(self.set_issue(number, false).await?)
    }

    async fn add_label(&self, number: u64, label: &Outgoing) -> Answered<()> {
        Ok(self.do_in(number, Act::Label { label: label.to_string() }).await?)
    }

    async fn remove_label(&self, number: u64, label: &str) -> Answered<()> {
        Ok(self.do_in(number, Act::Unlabel { label: label.to_owned() }).await?)
    }

    async fn request_review(&self, number: u64, logins: &[String]) -> Answered<()> {
        Ok(self.do_in(number, Act::Ask { logins: logins.to_vec() }).await?)
    }
}
