//! The proof of a review, and the document that carries it.

pub mod document;
pub mod receipt;
