//! Everything Tribunal says about a review, in every format. Nothing is worded anywhere else.

pub mod difference;
pub mod inline;
pub mod markdown;
pub mod rdjson;
pub mod sarif;
pub mod sticky;
pub mod summary;
pub mod visible;

#[cfg(test)]
mod tests;
