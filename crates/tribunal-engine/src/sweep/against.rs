//! What the changes of a sweep are held against: their spec, the decisions it names, and the criteria of the linked issue.

use super::Sweeps;
use super::bring::Brought;
use crate::EngineError;
use crate::effects::blocking;
use crate::library::Architecture;
use std::collections::BTreeSet;
use std::sync::Arc;
use tribunal_core::library::spec::{Source, architecture};
use tribunal_core::plan::links::closes;
use tribunal_core::plan::spec::spec_in as section_in;
use tribunal_core::policy::library::LibraryPolicy;
use tribunal_core::procedure::sweep::Request;
use tribunal_core::procedure::sweep::find::spec_in;
use tribunal_core::procedure::sweep::request::Target;
use tribunal_core::publish::outgoing::forged::without_marks;
use tribunal_core::pull::facts::Pull;
use tribunal_core::pull::fault::ForgeFault;

impl Sweeps {
    /// SL-24: says which spec is only half there.
    pub(super) async fn whole_specs(
        &self,
        brought: &Brought,
        library: &LibraryPolicy,
        specs: BTreeSet<String>,
    ) -> Result<Result<(), String>, EngineError> {
        for spec in specs {
            let (repository, base, places) = (Arc::clone(&brought.repository), brought.base.clone(), library.places.clone());
            let found = blocking(move || Architecture::of(&repository, &base, &places, &spec)).await??;
            if let Err(trouble) = found {
                return Ok(Err(trouble.to_string()));
            }
        }
        Ok(Ok(()))
    }

    /// SL-27, SL-50: as one text; nothing where a change is held against nothing but itself.
    pub(super) async fn held_against(
        &self,
        request: &Request,
        number: u64,
    ) -> Result<Result<Option<String>, String>, EngineError> {
        let pull = self.on.forge.pull(number).await?;
        let asked = match &request.target {
            Target::Spec(spec) => Some(spec.clone()),
            Target::Numbers(_) | Target::One(_) | Target::Open | Target::Label(_) | Target::Search(_) => spec_in(&pull.body),
        };
        let mut sources = Vec::new();
        if let Some(spec) = asked {
            let brought = self.clones.bring(&pull, self.on.forge.source(&pull)).await?;
            let places = match (self.base)(&brought.repository, &brought.base) {
                Ok(says) => says.library.places,
                Err(why) => return Ok(Err(why)),
            };
            let read = blocking(move || Architecture::of(&brought.repository, &brought.base, &places, &spec)).await??;
            match read {
                Ok(found) => sources.extend(found.into_iter().flat_map(|found| found.sources)),
                Err(trouble) => return Ok(Err(trouble.to_string())),
            }
        }
        sources.extend(self.criteria(&pull).await?);
        Ok(Ok(architecture(&sources)))
    }

    /// SL-69: after a merge an external index is told. The built-in one reads what is there when it is asked.
    pub(super) async fn tell_index(&self, number: u64) -> Result<Result<(), String>, EngineError> {
        let pull = self.on.forge.pull(number).await?;
        let repository = self.clones.repository(self.on.forge.source(&pull)).await?;
        let Ok(says) = (self.base)(&repository, &pull.base.sha) else { return Ok(Ok(())) };
        Ok(self.library.tell_external(&says.library).await.map_err(|trouble| trouble.to_string()))
    }

    /// The sections of the linked issue that say what must come of it.
    async fn criteria(&self, pull: &Pull) -> Result<Option<Source>, ForgeFault> {
        let Some(number) = closes(&pull.body).first().copied() else { return Ok(None) };
        match self.on.forge.issue(number).await {
            Ok(issue) => {
                // What an issue says is quoted; a mark in it is somebody's text.
                let quoted = |text: String| Source {
                    name: without_marks(&format!("issue #{number}: {}", issue.title)),
                    text: without_marks(&text),
                };
                Ok(section_in(&issue.body).map(quoted))
            }
            Err(ForgeFault::NotFound { .. }) => Ok(None),
            Err(fault) => Err(fault),
        }
    }
}
