//! Comments under the pull request as a whole.

use super::wire;
use super::{Gitea, total_count};
use crate::http::whole::Whole;
use crate::port::{Answered, Discuss};
use async_trait::async_trait;
use reqwest::Method;
use serde_json::json;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::fault::ForgeFault;
use tribunal_core::pull::talk::Comment;

#[async_trait]
impl Discuss for Gitea {
    /// This list knows no pages; it comes whole, with a count to check it by.
    async fn comments(&self, number: u64) -> Answered<Vec<Comment>> {
        let what = format!("the comments of pull request {number}");
        let answer = self.http.read(&self.repo(&format!("/issues/{number}/comments")), &what).await?;
        let comments = Whole::counted(self.http.host(), &what, answer.json(&what)?, total_count(&answer))?;
        let made_here = self.made_here().await?;
        Ok(comments.into_items().into_iter().map(|comment: wire::Comment| comment.words(made_here)).collect())
    }

    async fn comment(&self, number: u64, body: &Outgoing) -> Answered<Comment> {
        let what = format!("a comment on pull request {number}");
        let path = self.repo(&format!("/issues/{number}/comments"));
        let answer = self.http.write(Method::POST, &path, Some(&json!({ "body": body })), &what).await?;
        // We have just written it.
        self.written::<wire::Comment>(&answer, &what).map(|comment| comment.words(wire::MadeHere::default()))
    }

    async fn edit_comment(&self, _number: u64, id: &str, body: &Outgoing) -> Answered<()> {
        let what = format!("comment {id}");
        let path = self.repo(&format!("/issues/comments/{id}"));
        let answer = self.http.write(Method::PATCH, &path, Some(&json!({ "body": body })), &what).await?;
        match answer.status {
            // So it answers for an entry that has no text, such as a push; nothing was edited.
            204 => Err(ForgeFault::NotFound { host: self.http.host().to_owned(), what }),
            _ => Ok(()),
        }
    }

    async fn delete_comment(&self, _number: u64, id: &str) -> Answered<()> {
        self.tell(Method::DELETE, &self.repo(&format!("/issues/comments/{id}")), None, &format!("comment {id}")).await
    }
}
