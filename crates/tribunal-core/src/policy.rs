//! What people may set, what it means, and where each value came from.

pub mod admission;
pub mod agents;
pub mod config;
pub mod confinement;
pub mod context;
pub mod credentials;
pub mod disabled_in;
pub mod forge;
pub mod guidance;
pub mod identity;
pub mod key_class;
pub mod keys;
pub mod layers;
pub mod library;
pub mod linter;
pub mod loops;
pub mod panel;
pub mod passed_variables;
pub mod publish;
pub mod settle;
pub mod span;
pub mod sweep;
pub mod trust;
pub mod vendor;
