//! The proof of a review, and the document that carries it.

pub mod comparison;
pub mod document;
pub mod history;
pub mod publication;
pub mod reason;
pub mod receipt;
pub mod record;
