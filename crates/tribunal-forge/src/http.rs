//! One small HTTP client for every forge.
//!
//! Reads may be asked again and may be conditional; a write is sent once and follows no redirect: a client that turns a moved `POST`
//! into a `GET` would see a false success. What an answer means is decided in one place ([`answer::fault`]), by forge.

pub mod answer;
pub mod cache;
pub mod client;
pub mod pace;
pub mod shelf;
pub mod tail;
