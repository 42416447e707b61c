//! Other people's words. Our clients post nothing that has not passed the outgoing filter; the people and tools that a test plays are
//! bound by no filter.

use async_trait::async_trait;
use std::sync::Arc;
use tribunal_core::publish::outgoing::Outgoing;
use tribunal_core::pull::talk::{Comment, Thread};
use tribunal_forge::port::{Answered, Forge};

#[async_trait]
pub trait Voice {
    async fn comment(&self, number: u64, body: &str) -> Answered<Comment>;
    async fn edit_comment(&self, number: u64, id: &str, body: &str) -> Answered<()>;
    async fn reply(&self, number: u64, thread: &Thread, body: &str) -> Answered<()>;
    async fn add_label(&self, number: u64, label: &str) -> Answered<()>;
}

#[async_trait]
impl Voice for Arc<dyn Forge> {
    async fn comment(&self, number: u64, body: &str) -> Answered<Comment> {
        (**self).comment(number, &Outgoing::of_somebody_else(body)).await
    }

    async fn edit_comment(&self, number: u64, id: &str, body: &str) -> Answered<()> {
        (**self).edit_comment(number, id, &Outgoing::of_somebody_else(body)).await
    }

    async fn reply(&self, number: u64, thread: &Thread, body: &str) -> Answered<()> {
        (**self).reply(number, thread, &Outgoing::of_somebody_else(body)).await
    }

    async fn add_label(&self, number: u64, label: &str) -> Answered<()> {
        (**self).add_label(number, &Outgoing::of_somebody_else(label)).await
    }
}
