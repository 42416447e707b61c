//! An item that may be acted on. Whatever assesses, prompts, fixes, validates, answers or resolves takes one of these, so an item of
//! somebody without the right cannot get there: it is made from a [`Right`] that is granted, and from nothing else.
//!
//! ```compile_fail
//! use tribunal_core::feedback::{fixable::Fixable, item::Item, right::Right};
//! fn forge(item: Item, right: Right) -> Fixable {
//!     Fixable { item, right }
//! }
//! ```

use super::item::Item;
use super::right::Right;
use serde::{Deserialize, Serialize};
use std::ops::Deref;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Fixable {
    item: Item,
    right: Right,
}

impl Fixable {
    pub fn new(item: Item, right: &Right) -> Option<Fixable> {
        right.is_granted().then(|| Fixable { item, right: right.clone() })
    }

    pub fn item(&self) -> &Item {
        &self.item
    }
}

impl Deref for Fixable {
    type Target = Item;

    fn deref(&self) -> &Item {
        &self.item
    }
}

/// As a run's state holds it. A right that is not granted is not read back either.
#[derive(Deserialize)]
struct Stored {
    item: Item,
    right: Right,
}

impl TryFrom<Stored> for Fixable {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let refusal = stored.right.refusal().unwrap_or_default();
        Fixable::new(stored.item, &stored.right).ok_or(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::Voice;
    use super::super::samples::{item, person};
    use super::*;
    use crate::pull::facts::Permission;
    use crate::pull::told::Told;

    /// Issue 16, A1: an item becomes fixable by a permission that gives the right, in memory and in what is stored.
    #[test]
    fn only_a_right_makes_an_item_fixable() {
        let remark = item("thread:1", &person("eve"), Voice::Person, "a.py", 3, "Why?");
        let by = |permission| Fixable::new(remark.clone(), &Right::by_permission(permission));
        assert_eq!(by(Told::Is(Permission::Read)), None);
        assert_eq!(by(Told::Unknown("HTTP 502".into())), None);
        let fixable = by(Told::Is(Permission::Write)).unwrap();
        let text = serde_json::to_string(&fixable).unwrap();
        assert_eq!(serde_json::from_str::<Fixable>(&text).unwrap(), fixable);
        let forged = text.replace("\"write\"", "\"read\"");
        assert_ne!(forged, text);
        assert!(serde_json::from_str::<Fixable>(&forged).is_err(), "{forged}");
    }
}
