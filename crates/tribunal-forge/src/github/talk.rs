//! Comments under a pull request, and reactions.

use super::shapes::{CommentShape, ReactionShape, content};
use super::{GitHub, Phase};
use crate::http::client::segment;
use crate::port::{Answered, Discuss, React};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::talk::{Comment, Emoji, Reaction, ReactionTarget};

#[async_trait]
impl Discuss for GitHub {
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>> {
        let path = self.path(&format!("/issues/{number}/comments?per_page=100"));
        let shapes: Vec<CommentShape> = self.pages(&path, &format!("comments of {number}")).await?;
        Ok(shapes.into_iter().map(Comment::from).collect())
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

impl GitHub {
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
