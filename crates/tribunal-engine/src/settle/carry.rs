//! Placeholder until merging is here.
use super::Settling;
use crate::EngineError;
use std::collections::{BTreeMap, BTreeSet};
use tribunal_core::ids::Sha;
use tribunal_core::procedure::settle::plan_file::TaskId;
use tribunal_core::procedure::settle::{Closing, Input, Merging, State};

impl Settling {
    pub(super) async fn carry(&self, _: &BTreeSet<u64>, _: &BTreeMap<u64, BTreeSet<u64>>) -> Result<Input, EngineError> {
        Ok(Input::Closed(Closing::default()))
    }
    pub(super) async fn merge(&self, _: &State, _: &TaskId, _: u64, _: &Sha) -> Result<Input, EngineError> {
        Ok(Input::Merged(Ok(Merging::Stuck { reason: "not yet".into() })))
    }
}
