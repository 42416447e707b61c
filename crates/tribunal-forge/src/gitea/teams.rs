//! Whether somebody whom a repository of an organisation calls a writer may write its code.
//!
//! The server gives one word for all that an account may do. On Forgejo, and on Gitea before 1.24, a team that may write nothing but the
//! wiki or the issues makes that word `write`. So there the word counts only where nothing of the kind can have made it.

use super::Gitea;
use super::wire::Team;
use crate::http::client::segment;
use crate::port::Answered;
use tribunal_core::pull::facts::{Account, Permission};
use tribunal_core::pull::fault::ForgeFault;

/// Each team is asked about; with more of them nothing is asked.
const MOST_TEAMS: usize = 50;

impl Gitea {
    /// `write` was said of this account. What the token may not see of the teams is a refusal, and so no right.
    pub(super) async fn written_by_teams(&self, account: &Account) -> Answered<Permission> {
        let teams: Vec<Team> = match self.uncounted(&self.repo("/teams"), "the teams").await {
            // A person's repository: there is nothing but collaborators, who may write code or may not.
            Err(ForgeFault::Refused { status: 405, .. }) => return Ok(Permission::Write),
            teams => teams?,
        };
        // An organisation has at least the team of its owners.
        if teams.is_empty() {
            return Err(self.hollow("the repository of an organisation has no teams"));
        }
        if teams.len() > MOST_TEAMS {
            return Err(self.hollow(format!("the repository has more than {MOST_TEAMS} teams")));
        }
        let (of_code, others): (Vec<&Team>, Vec<&Team>) =
            teams.iter().filter(|team| team.writes()).partition(|team| team.writes_code());
        // Every team that makes a writer makes one of code.
        if others.is_empty() {
            return Ok(Permission::Write);
        }
        let mut unread = None;
        for team in of_code {
            match self.is_member(team, account).await {
                Ok(true) => return Ok(Permission::Write),
                Ok(false) => {}
                // Another team may do.
                Err(fault) => unread = Some(fault),
            }
        }
        if let Some(fault) = unread {
            return Err(fault);
        }
        // Only a collaborator is left, and only if no other team can have made the word.
        if !self.is_there(&format!("/collaborators/{}", segment(&account.login)), "a collaborator").await? {
            return Ok(Permission::Read);
        }
        for team in others {
            if self.is_member(team, account).await? {
                return Ok(Permission::Read);
            }
        }
        Ok(Permission::Write)
    }

    /// A team that is hidden from the token has no members that it can see, so the team itself is asked for as well.
    async fn is_member(&self, team: &Team, account: &Account) -> Answered<bool> {
        let (path, what) = (format!("/teams/{}", team.id), format!("the team {}", team.name));
        match self.http.get::<super::wire::User>(&format!("{path}/members/{}", segment(&account.login)), &what).await {
            Ok(member) => Ok(member.account().is(account)),
            Err(ForgeFault::NotFound { .. }) => self.http.get::<Team>(&path, &what).await.map(|_| false).map_err(|fault| {
                let message = format!("who is in {what} is not shown to this token");
                match fault {
                    ForgeFault::NotFound { .. } => self.hidden(message),
                    other => other,
                }
            }),
            Err(fault) => Err(fault),
        }
    }

    /// Answered without a body.
    async fn is_there(&self, path: &str, what: &str) -> Answered<bool> {
        match self.http.read(&self.repo(path), what).await {
            Ok(_) => Ok(true),
            Err(ForgeFault::NotFound { .. }) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    fn hidden(&self, message: String) -> ForgeFault {
        ForgeFault::Forbidden { host: self.http.host().to_owned(), needs: None, message }
    }
}
