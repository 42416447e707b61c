//! What was read, or why it could not be. A failed read is never "nothing there" (design rule 8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Told<T> {
    Is(T),
    /// And the reason, for people.
    Unknown(String),
}

impl<T> Told<T> {
    pub fn as_ref(&self) -> Told<&T> {
        match self {
            Told::Is(value) => Told::Is(value),
            Told::Unknown(because) => Told::Unknown(because.clone()),
        }
    }

    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Told<U> {
        match self {
            Told::Is(value) => Told::Is(with(value)),
            Told::Unknown(because) => Told::Unknown(because),
        }
    }

    pub fn known(self) -> Option<T> {
        match self {
            Told::Is(value) => Some(value),
            Told::Unknown(_) => None,
        }
    }
}

impl<T, E: std::fmt::Display> From<Result<T, E>> for Told<T> {
    fn from(read: Result<T, E>) -> Self {
        match read {
            Ok(value) => Told::Is(value),
            Err(problem) => Told::Unknown(problem.to_string()),
        }
    }
}
