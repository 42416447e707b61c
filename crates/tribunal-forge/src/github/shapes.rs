//! GitHub's answers, as little of them as is used, and what they become. Fields that may be missing are `Option`; a field that must be
//! there and is not makes the answer hollow.

use serde::{Deserialize, Deserializer};
use tribunal_core::ids::Sha;
use tribunal_core::pull::facts::{Account, AccountKind, Issue, Mergeable, Pull, PullState, Tip};
use tribunal_core::pull::talk::{Comment, Emoji, Reaction, Review, ReviewState};

#[derive(Deserialize)]
pub struct User {
    id: u64,
    login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl From<User> for Account {
    fn from(user: User) -> Account {
        let kind = match user.kind.as_deref() {
            Some("User") => AccountKind::Person,
            Some("Bot") => AccountKind::Bot,
            // An answer without the kind, or a kind that was added later.
            _ => AccountKind::Unread,
        };
        Account { id: user.id.to_string(), login: user.login, kind }
    }
}

/// Whoever deleted the account is nobody, and never the same nobody as us.
pub fn account(user: Option<User>) -> Account {
    user.map_or_else(|| Account { id: "ghost".into(), login: "ghost".into(), kind: AccountKind::Unknown }, Account::from)
}

#[derive(Deserialize)]
pub struct Label {
    pub name: String,
}

#[derive(Deserialize)]
struct RepositoryName {
    full_name: String,
}

#[derive(Deserialize)]
struct End {
    #[serde(rename = "ref")]
    branch: String,
    sha: String,
    /// Null when the fork was deleted.
    repo: Option<RepositoryName>,
}

impl From<End> for Tip {
    fn from(end: End) -> Tip {
        Tip { branch: end.branch, sha: Sha::new(end.sha), repository: end.repo.map(|repo| repo.full_name) }
    }
}

/// A pull request alone or in a list, where the last four are missing.
#[derive(Deserialize)]
pub struct PullShape {
    number: u64,
    title: String,
    body: Option<String>,
    user: Option<User>,
    state: String,
    #[serde(default)]
    draft: bool,
    head: End,
    base: End,
    labels: Vec<Label>,
    html_url: String,
    updated_at: String,
    merged_at: Option<String>,
    mergeable: Option<bool>,
    mergeable_state: Option<String>,
    changed_files: Option<u64>,
}

impl From<PullShape> for Pull {
    fn from(shape: PullShape) -> Pull {
        let state = match (shape.merged_at.is_some(), shape.state.as_str()) {
            (true, _) => PullState::Merged,
            (false, "open") => PullState::Open,
            (false, _) => PullState::Closed,
        };
        let mergeable = match (shape.mergeable, shape.mergeable_state.as_deref()) {
            (None, _) => Mergeable::Unknown,
            (Some(false), _) => Mergeable::Conflict,
            (Some(true), Some("behind")) => Mergeable::Behind,
            (Some(true), Some("blocked" | "draft")) => Mergeable::Blocked,
            (Some(true), _) => Mergeable::Yes,
        };
        let (head, base) = (Tip::from(shape.head), Tip::from(shape.base));
        Pull {
            number: shape.number,
            title: shape.title,
            body: shape.body.unwrap_or_default(),
            author: account(shape.user),
            state,
            draft: shape.draft,
            is_fork: head.repository.is_none() || head.repository != base.repository,
            head,
            base,
            labels: shape.labels.into_iter().map(|label| label.name).collect(),
            url: shape.html_url,
            updated_at: shape.updated_at,
            mergeable,
            changed_files: shape.changed_files,
        }
    }
}

#[derive(Deserialize)]
pub struct CommentShape {
    id: u64,
    user: Option<User>,
    body: Option<String>,
    created_at: String,
    updated_at: String,
    html_url: String,
}

impl From<CommentShape> for Comment {
    fn from(shape: CommentShape) -> Comment {
        Comment {
            id: shape.id.to_string(),
            author: account(shape.user),
            body: shape.body.unwrap_or_default(),
            // Whoever may write here can edit it, and this answer does not tell who did.
            edited: shape.updated_at != shape.created_at,
            created_at: shape.created_at,
            updated_at: shape.updated_at,
            url: shape.html_url,
        }
    }
}

#[derive(Deserialize)]
pub struct ReviewShape {
    pub id: u64,
    user: Option<User>,
    body: Option<String>,
    pub state: String,
    commit_id: Option<String>,
    submitted_at: Option<String>,
    pub html_url: String,
}

impl ReviewShape {
    /// Nothing when the state is one that is not known.
    pub fn review(self) -> Option<Review> {
        let state = match self.state.as_str() {
            "PENDING" => ReviewState::Pending,
            "COMMENTED" => ReviewState::Commented,
            "APPROVED" => ReviewState::Approved,
            "CHANGES_REQUESTED" => ReviewState::ChangesRequested,
            "DISMISSED" => ReviewState::Dismissed,
            _ => return None,
        };
        Some(Review {
            id: self.id.to_string(),
            author: account(self.user),
            state,
            body: self.body.unwrap_or_default(),
            commit: self.commit_id.map(Sha::new),
            submitted_at: self.submitted_at.unwrap_or_default(),
            url: self.html_url,
        })
    }
}

#[derive(Deserialize)]
pub struct IssueShape {
    number: u64,
    title: String,
    body: Option<String>,
    user: Option<User>,
    state: String,
    labels: Vec<LabelOrName>,
    html_url: String,
    #[serde(default)]
    assignees: Option<Vec<User>>,
    #[serde(default)]
    created_at: String,
    #[serde(default)]
    updated_at: String,
    closed_at: Option<String>,
    #[serde(default)]
    pub repository_url: String,
    /// A pull request is an issue too.
    pub pull_request: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum LabelOrName {
    Label(Label),
    Name(String),
}

impl IssueShape {
    pub fn author(&mut self) -> Account {
        account(self.user.take())
    }
}

impl From<IssueShape> for Issue {
    fn from(shape: IssueShape) -> Issue {
        let label = |label| match label {
            LabelOrName::Label(label) => label.name,
            LabelOrName::Name(name) => name,
        };
        Issue {
            number: shape.number,
            title: shape.title,
            body: shape.body.unwrap_or_default(),
            author: account(shape.user),
            open: shape.state == "open",
            labels: shape.labels.into_iter().map(label).collect(),
            url: shape.html_url,
            assignees: shape.assignees.into_iter().flatten().map(|user| user.login).collect(),
            created_at: shape.created_at,
            updated_at: shape.updated_at,
            closed_at: shape.closed_at,
        }
    }
}

#[derive(Deserialize)]
pub struct Found {
    pub total_count: u64,
    pub incomplete_results: bool,
    pub items: Vec<IssueShape>,
}

#[derive(Deserialize)]
pub struct Role {
    pub permission: String,
    pub role_name: Option<String>,
    pub user: Option<User>,
}

#[derive(Deserialize)]
pub struct StatusShape {
    pub id: u64,
    pub context: String,
    pub state: String,
    pub description: Option<String>,
    pub target_url: Option<String>,
    pub creator: Option<User>,
    pub created_at: String,
}

#[derive(Deserialize)]
pub struct ReactionShape {
    user: Option<User>,
    content: String,
}

impl ReactionShape {
    /// Nothing for one that means nothing to us.
    pub fn reaction(self) -> Option<Reaction> {
        let emoji = [Emoji::ThumbsUp, Emoji::ThumbsDown, Emoji::Eyes, Emoji::Rocket, Emoji::Hooray]
            .into_iter()
            .find(|emoji| content(*emoji) == self.content)?;
        Some(Reaction { author: account(self.user), emoji })
    }
}

pub fn content(emoji: Emoji) -> &'static str {
    match emoji {
        Emoji::ThumbsUp => "+1",
        Emoji::ThumbsDown => "-1",
        Emoji::Eyes => "eyes",
        Emoji::Rocket => "rocket",
        Emoji::Hooray => "hooray",
    }
}

/// GraphQL writes large numbers as text; an older server writes them as numbers.
pub fn number_as_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    Ok(Option::<Either>::deserialize(deserializer)?.map(|either| match either {
        Either::Number(number) => number.to_string(),
        Either::Text(text) => text,
    }))
}
