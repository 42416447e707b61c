//! A desk as text. Every release reads what every earlier one wrote, and refuses what a later one did.

use super::Desk;
use serde::{Deserialize, Serialize};

/// Raised when a stored desk would be read differently.
const MODEL: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("it was written by a newer version of Tribunal (model {0}, this one knows {MODEL})")]
    TooNew(u32),
    #[error("{0}")]
    Damaged(String),
}

#[derive(Deserialize)]
struct Model {
    model: u32,
}

#[derive(Serialize, Deserialize)]
struct Stored<D> {
    model: u32,
    desk: D,
}

impl Desk {
    pub fn to_text(&self) -> Result<String, Unreadable> {
        serde_json::to_string(&Stored { model: MODEL, desk: self }).map_err(|error| Unreadable::Damaged(error.to_string()))
    }

    pub fn from_text(text: &str) -> Result<Desk, Unreadable> {
        let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
        // The model first: a later one may not even parse.
        match serde_json::from_str::<Model>(text).map_err(damaged)?.model {
            MODEL => Ok(serde_json::from_str::<Stored<Desk>>(text).map_err(damaged)?.desk),
            later => Err(Unreadable::TooNew(later)),
        }
    }
}
