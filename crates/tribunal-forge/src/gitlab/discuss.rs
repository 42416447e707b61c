//! Notes under the request as a whole, and reactions.

use super::wire::{Award, Note};
use super::{GitLab, named, summary};
use crate::http::client::segment;
use crate::port::{Answered, Discuss, React};
use async_trait::async_trait;
use serde_json::json;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::{Comment, Emoji, Reaction, ReactionTarget};

#[async_trait]
impl Discuss for GitLab {
    /// Without what belongs to a thread, and without the summaries of our own reviews, which are reviews.
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>> {
        let me = self.who_am_i().await?.clone();
        let mut comments = Vec::new();
        for note in self.notes(number).await? {
            let is_summary = note.author.id.to_string() == me.id && summary::read(&note.body).is_some();
            if !note.resolvable && note.position.is_none() && !is_summary {
                comments.push(self.understood_note(number, note).await);
            }
        }
        Ok(comments)
    }

    async fn comment(&self, number: u64, body: &Outgoing) -> Answered<Comment> {
        let answer = self.post(&self.of_request(number, "/notes"), &json!({ "body": body }), &named(number)).await?;
        let note: Note = self.written(&answer, "the new note")?;
        Ok(self.understood_note(number, note).await)
    }

    async fn edit_comment(&self, number: u64, id: &str, body: &Outgoing) -> Answered<()> {
        self.put(&self.note_path(number, id), &json!({ "body": body }), &format!("note {id}")).await.map(drop)
    }

    async fn delete_comment(&self, number: u64, id: &str) -> Answered<()> {
        self.delete(&self.note_path(number, id), &format!("note {id}")).await
    }
}

/// `changed target branch from ...`, or `... This merge request now targets the ... branch` when the old one was deleted. The server
/// writes it in English whatever language people read. In doubt it is a change, which takes approvals away and gives none.
fn is_base_change(body: &str) -> bool {
    body.contains("target branch") || body.contains("now targets the")
}

#[async_trait]
impl React for GitLab {
    async fn reactions(&self, number: u64, target: &ReactionTarget) -> Answered<Vec<Reaction>> {
        let awards: Vec<Award> = self.list(&self.award_path(number, target), "the reactions").await?;
        let mut reactions = Vec::new();
        for award in awards {
            if let Some(emoji) = EMOJI.into_iter().find(|emoji| word(*emoji) == award.name) {
                reactions.push(Reaction { author: self.account(&award.user).await, emoji });
            }
        }
        Ok(reactions)
    }

    async fn react(&self, number: u64, target: &ReactionTarget, emoji: Emoji) -> Answered<()> {
        let path = format!("{}?name={}", self.award_path(number, target), word(emoji));
        match self.http.write(reqwest::Method::POST, &path, None, "the reaction").await {
            Ok(_) => Ok(()),
            // Also said of a reaction that is there already.
            Err(fault @ ForgeFault::NotFound { .. }) => {
                let me = self.who_am_i().await?.clone();
                let there = self.reactions(number, target).await?;
                let ours = there.iter().any(|reaction| reaction.author.is(&me) && reaction.emoji == emoji);
                if ours { Ok(()) } else { Err(fault) }
            }
            Err(fault) => Err(fault),
        }
    }
}

impl GitLab {
    /// Everything that people wrote, oldest first; what GitLab notes down itself is left out.
    pub(super) async fn notes(&self, number: u64) -> Answered<Vec<Note>> {
        let mut notes = self.all_notes(number).await?;
        notes.retain(|note| !note.system);
        Ok(notes)
    }

    /// With what the server itself wrote down.
    async fn all_notes(&self, number: u64) -> Answered<Vec<Note>> {
        let path = self.of_request(number, "/notes?sort=asc&order_by=created_at");
        self.list(&path, "the notes").await
    }

    pub(super) async fn last_base_change(&self, number: u64) -> Answered<Option<String>> {
        let notes = self.all_notes(number).await?;
        Ok(notes.into_iter().filter(|note| note.system && is_base_change(&note.body)).map(|note| note.created_at).next_back())
    }

    fn note_path(&self, number: u64, id: &str) -> String {
        self.of_request(number, &format!("/notes/{}", segment(id)))
    }

    fn award_path(&self, number: u64, target: &ReactionTarget) -> String {
        match target {
            ReactionTarget::Pull => self.of_request(number, "/award_emoji"),
            ReactionTarget::Comment(id) | ReactionTarget::ThreadComment(id) => {
                format!("{}/award_emoji", self.note_path(number, id))
            }
        }
    }

    pub(super) async fn understood_note(&self, number: u64, note: Note) -> Comment {
        Comment {
            id: note.id.to_string(),
            author: self.account(&note.author).await,
            url: self.note_url(number, note.id),
            body: note.body,
            updated_at: note.updated_at.unwrap_or_else(|| note.created_at.clone()),
            created_at: note.created_at,
            // Only its author and maintainers of the project can; and resolving a thread is an update, too.
            edited: false,
        }
    }
}

const EMOJI: [Emoji; 5] = [Emoji::ThumbsUp, Emoji::ThumbsDown, Emoji::Eyes, Emoji::Rocket, Emoji::Hooray];

fn word(emoji: Emoji) -> &'static str {
    match emoji {
        Emoji::ThumbsUp => "thumbsup",
        Emoji::ThumbsDown => "thumbsdown",
        Emoji::Eyes => "eyes",
        Emoji::Rocket => "rocket",
        Emoji::Hooray => "tada",
    }
}
