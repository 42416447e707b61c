//! Which fix of a rule answers an item, if any may be made unattended.

use crate::feedback::fixable::Fixable;
use crate::findings::report::{Claim, Fix};

/// The claim of the rules about the item's file that the item is about, and its fix. An offered fix is a person's to make.
pub fn safe_fix<'a>(item: &Fixable, claims: &'a [Claim]) -> Option<(&'a Claim, &'a Fix)> {
    let last = item.line?;
    let first = item.start_line.unwrap_or(last).min(last);
    let is_here =
        |claim: &&Claim| claim.line_start.is_some_and(|start| start <= last && first <= claim.line_end.unwrap_or(start));
    let here: Vec<&Claim> = claims.iter().filter(is_here).collect();
    // Of our own finding the rule is known, and the fix of another rule is no answer to it.
    let is_named = |claim: &&Claim| claim.rule.is_some() && claim.rule == item.about.slug;
    let only_named = !item.about.fix.is_safe() || here.iter().any(is_named);
    here.into_iter()
        .filter(|claim| !only_named || is_named(claim))
        .find_map(|claim| Some((claim, claim.fix.as_ref().filter(|fix| fix.kind.is_safe())?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::item::{Item, Voice};
    use crate::feedback::samples::{fixable, item, person};
    use crate::findings::about::About;
    use crate::findings::report::FixKind;

    /// A claim of a rule about line 3.
    fn claim(rule: &str, kind: FixKind) -> Claim {
        let claim = serde_json::json!({
            "category": "E1", "file": "a.py", "line_start": 3, "line_end": 3, "confidence": "high", "blast": "local",
            "failure_mode": "x", "rule": rule,
            "fix": { "line_start": 3, "line_end": 3, "replacement": rule, "kind": kind },
        });
        serde_json::from_value(claim).unwrap()
    }

    fn answer(line: u32, about: About, claims: &[Claim]) -> Option<String> {
        let item = item("thread:1", &person("dev"), Voice::Person, "a.py", line, "Look.");
        safe_fix(&fixable(&Item { about, ..item }), claims).map(|(_, fix)| fix.replacement.clone())
    }

    fn about(slug: &str, fix: FixKind) -> About {
        About { slug: Some(slug.into()), fix, ..About::default() }
    }

    #[test]
    fn what_is_only_offered_is_nobodys_to_make() {
        let claims = [claim("one", FixKind::Offered), claim("two", FixKind::Safe)];
        assert_eq!(answer(3, About::default(), &claims[..1]), None);
        assert_eq!(answer(3, About::default(), &claims).as_deref(), Some("two"));
        // Another rule's fix is no answer to a finding that names its rule.
        assert_eq!(answer(3, about("one", FixKind::Safe), &claims), None);
        assert_eq!(answer(3, about("elsewhere", FixKind::Offered), &claims), None);
        assert_eq!(answer(3, about("elsewhere", FixKind::Safe), &claims).as_deref(), Some("two"));
        assert_eq!(answer(4, About::default(), &claims), None);
    }
}
