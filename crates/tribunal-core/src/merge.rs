//! May it be merged, and in which order?
//!
//! A merge is decided from [`facts`] of one pull request at one moment, by [`conditions`] that are all listed and all judged, whatever
//! the first of them says: so `tribunal why` and a merge can never disagree. Only when every one of them is met is there a
//! [`clearance`], and only a clearance becomes an order for a forge. What cannot be read is unknown, and the unknown is not merged
//! (design rule 8). Several pull requests are put into an [`order`], and after each merge the larger work that it belongs to is looked
//! at ([`epic`]). What once held a merge
//! back is on record ([`hold`]). Nothing in here reads or writes anything.

pub mod clearance;
pub mod conditions;
pub mod epic;
pub mod facts;
pub mod hold;
pub mod order;
pub mod people;
pub mod policy;
pub mod reviewed_place;
pub mod words;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
