//! One small HTTP client for every forge.
//!
//! Reads may be asked again and may be conditional; a write is sent once and follows no redirect: a client that turns a moved `POST`
//! into a `GET` would see a false success. A token goes to its own server only ([`credential`]), and what a server
//! answers has bounds ([`limits`]). What an answer means is decided in one place ([`answer::fault`]), by forge.

pub mod answer;
pub mod cache;
pub mod client;
pub mod credential;
pub mod limits;
pub mod pace;
pub mod shelf;
pub mod tail;
pub mod whole;
