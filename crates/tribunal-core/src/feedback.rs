//! What reviewers say on a pull request, people, bots, our own panel and checks alike, as items that can be answered.

pub mod item;
