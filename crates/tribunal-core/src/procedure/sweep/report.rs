//! The one account of a sweep (SL-92, SL-156, CF-23).

use crate::ids::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Tribunal sweep report, version 1")]
pub struct Report {
    pub version: u32,
    pub run: RunId,
}
