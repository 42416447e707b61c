//! How an item ended.

use crate::feedback::item::{Item, ItemId, Voice};
use crate::findings::scale::Priority;
use crate::ids::Sha;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "kebab-case")]
pub enum End {
    Fixed {
        sha: Sha,
    },
    Declined {
        reason: String,
    },
    /// An issue or a record; never a promise without a place (CF-18).
    Deferred {
        home: String,
    },
    Asked {
        question: String,
    },
    /// It asks for nothing.
    NothingAsked,
    /// An answer of ours to its last word stood there already, or somebody had closed it.
    AnsweredBefore,
    /// Still there, and why nothing was done.
    Open {
        why: String,
    },
    /// Not looked at, and why.
    LeftOut {
        why: String,
    },
}

impl End {
    pub fn word(&self) -> &'static str {
        match self {
            End::Fixed { .. } => "Fixed",
            End::Declined { .. } => "Declined",
            End::Deferred { .. } => "Deferred",
            End::Asked { .. } => "Asked",
            End::NothingAsked => "Nothing asked",
            End::AnsweredBefore => "Answered before",
            End::Open { .. } => "Open",
            End::LeftOut { .. } => "Left out",
        }
    }

    /// Nobody has to do anything more about it here.
    pub fn is_settled(&self) -> bool {
        match self {
            End::Fixed { .. } | End::Declined { .. } | End::Deferred { .. } | End::NothingAsked | End::AnsweredBefore => true,
            End::Asked { .. } | End::Open { .. } | End::LeftOut { .. } => false,
        }
    }

    /// The commit, the reason, the place or the question, as it was written.
    pub fn details(&self) -> String {
        match self {
            End::Fixed { sha } => format!("commit {sha}"),
            End::Declined { reason } => reason.clone(),
            End::Deferred { home } => home.clone(),
            End::Asked { question } => question.clone(),
            End::NothingAsked | End::AnsweredBefore => String::new(),
            End::Open { why } | End::LeftOut { why } => why.clone(),
        }
    }
}

/// One item with its end, for reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    pub item: ItemId,
    /// Where it stands, for people.
    pub place: String,
    /// The login of whoever raised it.
    pub author: String,
    pub voice: Voice,
    pub url: String,
    pub priority: Option<Priority>,
    #[serde(flatten)]
    pub end: End,
}

impl Ended {
    pub fn of(item: &Item, end: End) -> Self {
        Ended {
            item: item.id.clone(),
            place: item.place(),
            author: item.author.login.clone(),
            voice: item.voice.clone(),
            url: item.url.clone(),
            priority: item.priority,
            end,
        }
    }
}
