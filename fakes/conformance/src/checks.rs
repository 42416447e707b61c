//! The checks, by what they are about.

mod facts;

use crate::run::Check;

macro_rules! listed {
    ($($module:ident: $($name:ident),+ $(,)?;)+) => {
        /// Every check, in the order in which they run.
        pub fn checks() -> Vec<Check> {
            vec![$($(Check {
                name: concat!(stringify!($module), "::", stringify!($name)),
                run: |stage| Box::pin($module::$name(stage)),
            }),+),+]
        }
    };
}

listed! {
    facts: everybody_is_somebody, a_pull_is_read_whole;
}
