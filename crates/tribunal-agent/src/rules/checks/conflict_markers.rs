//! Conflict markers that were committed.

use super::Scope;
use tribunal_core::diff::conflict::conflicts;
use tribunal_core::findings::report::Claim;

pub fn check(scope: &Scope<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    for file in scope.files() {
        claims.extend(conflicts(file).into_iter().map(|line| scope.claim(file, line)));
    }
    claims
}
