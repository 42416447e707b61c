//! What a repository knows besides its code: decision records, specs and issues. Which of them a change should have named is decided
//! here. Shells read the texts, keep an index of them and ask it.

pub mod external;
pub mod hint;
pub mod issue_page;
pub mod named;
pub mod page;
pub mod places;
pub mod question;
pub mod score;
pub mod spec;
pub mod sync;
pub mod words;
