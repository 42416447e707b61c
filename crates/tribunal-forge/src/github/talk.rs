//! Comments under a pull request, and reactions.

use super::graphql::{COMMENT_EDITS, PageInfo};
use super::shapes::{CommentShape, ReactionShape, content, number_as_text};
use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::{Answered, Discuss, React};
use async_trait::async_trait;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::command::commands;
use tribunal_core::pull::talk::{Comment, Emoji, Reaction, ReactionTarget};

#[async_trait]
impl Discuss for GitHub {
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>> {
        let path = self.path(&format!("/issues/{number}/comments?per_page=100"));
        let shapes: Vec<CommentShape> = self.pages(&path, &format!("comments of {number}")).await?;
        let mut comments: Vec<Comment> = shapes.into_iter().map(Comment::from).collect();
        // Only a command has to be told from an edited one, and two times in whole seconds do not tell them apart.
        let is_unsure = |comment: &Comment| !comment.edited && !commands(&comment.body).is_empty();
        if comments.iter().any(is_unsure) {
            let edited = match self.edited_comments(number).await {
                Err(fault) if fault.may_pass() => return Err(fault),
                // What cannot be told counts as edited.
                edited => edited.unwrap_or_default(),
            };
            for comment in comments.iter_mut().filter(|comment| is_unsure(comment)) {
                comment.edited = edited.get(&comment.id).copied().unwrap_or(true);
            }
        }
        Ok(comments)
    }

    async fn comment(&self, number: u64, body: &Outgoing) -> Answered<Comment> {
        let path = self.path(&format!("/issues/{number}/comments"));
        let what = format!("a comment on {number}");
        let answer = self.write(Phase::Publish, Method::POST, &path, Some(&json!({ "body": body })), &what).await?;
        Ok(self.made::<CommentShape>(&answer, &what)?.into())
    }

    async fn edit_comment(&self, _number: u64, id: &str, body: &Outgoing) -> Answered<()> {
        let path = self.path(&format!("/issues/comments/{}", segment(id)));
        self.write(Phase::Publish, Method::PATCH, &path, Some(&json!({ "body": body })), &format!("comment {id}")).await.map(drop)
    }

    async fn delete_comment(&self, _number: u64, id: &str) -> Answered<()> {
        let path = self.path(&format!("/issues/comments/{}", segment(id)));
        self.write(Phase::Publish, Method::DELETE, &path, None, &format!("comment {id}")).await.map(drop)
    }
}

/// Enough for the largest conversation, and an end to a cursor that goes in circles.
const MAX_PAGES: usize = 200;

#[derive(Deserialize)]
struct OfRepository {
    repository: Option<OfSubject>,
}

#[derive(Deserialize)]
struct OfSubject {
    #[serde(rename = "issueOrPullRequest")]
    subject: Option<Edits>,
}

#[derive(Deserialize)]
struct Edits {
    comments: EditsPage,
}

#[derive(Deserialize)]
struct EditsPage {
    #[serde(rename = "pageInfo")]
    info: PageInfo,
    nodes: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edit {
    #[serde(deserialize_with = "number_as_text")]
    full_database_id: Option<String>,
    last_edited_at: Option<String>,
}

impl GitHub {
    /// Of every comment of an issue or a pull request, whether it was ever edited.
    async fn edited_comments(&self, number: u64) -> Answered<BTreeMap<String, bool>> {
        let (owner, name) = self.project.owner_and_name();
        let what = format!("edits of the comments of {number}");
        let (mut edited, mut after) = (BTreeMap::new(), None);
        for _ in 0..MAX_PAGES {
            let variables = json!({ "owner": owner, "name": name, "number": number, "after": after });
            let said: OfRepository = self.query(COMMENT_EDITS, variables, &what).await?;
            let subject = said.repository.and_then(|repository| repository.subject);
            let page = subject.ok_or_else(|| self.hollow(format!("{what}: nothing has that number")))?.comments;
            let known = page.nodes.into_iter().filter_map(|edit| Some((edit.full_database_id?, edit.last_edited_at.is_some())));
            edited.extend(known);
            after = self.next(page.info, &what)?;
            if after.is_none() {
                return Ok(edited);
            }
        }
        Err(self.hollow(format!("{what} have more than {MAX_PAGES} pages")))
    }

    fn reactions_path(&self, number: u64, target: &ReactionTarget) -> String {
        self.path(&match target {
            ReactionTarget::Pull => format!("/issues/{number}/reactions"),
            ReactionTarget::Comment(id) => format!("/issues/comments/{}/reactions", segment(id)),
            ReactionTarget::ThreadComment(id) => format!("/pulls/comments/{}/reactions", segment(id)),
        })
    }
}

#[async_trait]
impl React for GitHub {
    async fn reactions(&self, number: u64, target: &ReactionTarget) -> Answered<Vec<Reaction>> {
        let path = format!("{}?per_page=100", self.reactions_path(number, target));
        let shapes: Vec<ReactionShape> = self.pages(&path, "reactions").await?;
        Ok(shapes.into_iter().filter_map(ReactionShape::reaction).collect())
    }

    async fn react(&self, number: u64, target: &ReactionTarget, emoji: Emoji) -> Answered<()> {
        let path = self.reactions_path(number, target);
        let body = json!({ "content": content(emoji) });
        self.write(Phase::Publish, Method::POST, &path, Some(&body), "a reaction").await.map(drop)
    }
}
