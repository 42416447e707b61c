//! Reactions. To the server a comment on a line is a comment like any other.

use super::Gitea;
use super::wire;
use crate::port::{Answered, React};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::pull::talk::{Emoji, Reaction, ReactionTarget};

const WORDS: [(Emoji, &str); 5] = [
    (Emoji::ThumbsUp, "+1"),
    (Emoji::ThumbsDown, "-1"),
    (Emoji::Eyes, "eyes"),
    (Emoji::Rocket, "rocket"),
    (Emoji::Hooray, "hooray"),
];

#[async_trait]
impl React for Gitea {
    async fn reactions(&self, number: u64, target: &ReactionTarget) -> Answered<Vec<Reaction>> {
        let path = self.reaction_path(number, target);
        let found: Vec<wire::Reaction> = match target {
            ReactionTarget::Pull => self.list(&path, "the reactions").await?,
            // No pages here, and null for none.
            ReactionTarget::Comment(_) | ReactionTarget::ThreadComment(_) => self.uncounted(&path, "the reactions").await?,
        };
        let known = |reaction: wire::Reaction| {
            let (emoji, _) = WORDS.into_iter().find(|(_, word)| *word == reaction.content)?;
            Some(Reaction { author: reaction.user.account(), emoji })
        };
        Ok(found.into_iter().filter_map(known).collect())
    }

    async fn react(&self, number: u64, target: &ReactionTarget, emoji: Emoji) -> Answered<()> {
        let word = WORDS.into_iter().find(|(known, _)| *known == emoji).map_or("+1", |(_, word)| word);
        self.tell(Method::POST, &self.reaction_path(number, target), Some(&json!({ "content": word })), "a reaction").await
    }
}

impl Gitea {
    fn reaction_path(&self, number: u64, target: &ReactionTarget) -> String {
        match target {
            ReactionTarget::Pull => self.repo(&format!("/issues/{number}/reactions")),
            ReactionTarget::Comment(id) | ReactionTarget::ThreadComment(id) => {
                self.repo(&format!("/issues/comments/{id}/reactions"))
            }
        }
    }
}
