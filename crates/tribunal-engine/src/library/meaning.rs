//! Vectors of pages and of a question. Without an endpoint, or when it fails, what was asked is looked up by words alone (SL-88).

use super::{Account, Library, LibraryTrouble};
use crate::EngineError;
use crate::effects::ask::Slot;
use crate::effects::blocking;
use std::collections::BTreeMap;
use tribunal_context::index::{Index, IndexError, Reader};
use tribunal_core::findings::key::sha256_hex;
use tribunal_core::ids::AgentName;
use tribunal_core::library::page::Kind;
use tribunal_core::library::question::Question;
use tribunal_core::policy::agents::{AgentConfig, Means};

/// Texts in one call.
const BATCH: usize = 64;
/// Characters of one text; a page is rarely longer, and models cut there anyway.
const LONGEST: usize = 6_000;

impl Library {
    /// The model and the vector of the question, once the pages of these kinds have theirs.
    pub(super) async fn meaning(
        &self,
        account: Account<'_>,
        question: &Question,
        kinds: &[Kind],
        notices: &mut Vec<String>,
    ) -> Result<Option<(String, Vec<f32>)>, LibraryTrouble> {
        let Some(agent) = &account.library.embeddings else { return Ok(None) };
        let Some(model) = model_of(account, agent) else { return Ok(None) };
        match self.vectors(account, agent, &model, question, kinds).await? {
            Ok(vector) => Ok(Some((model, vector))),
            Err(why) => {
                notices.push(format!("`{agent}` made no vectors ({why}); looked up by words alone."));
                Ok(None)
            }
        }
    }

    async fn vectors(
        &self,
        account: Account<'_>,
        agent: &AgentName,
        model: &str,
        question: &Question,
        kinds: &[Kind],
    ) -> Result<Result<Vec<f32>, String>, LibraryTrouble> {
        for kind in kinds {
            if let Err(why) = self.embed_pages(account, agent, model, *kind).await? {
                return Ok(Err(why));
            }
        }
        let asked = self.embed(account, agent, vec![question.sentence.clone()]).await?;
        Ok(asked.and_then(|vectors| vectors.into_iter().next().ok_or_else(|| "it gave none".to_owned())))
    }

    /// Gives a vector to every page that has none. What is done is kept, whatever comes after it.
    pub async fn embed_pages(
        &self,
        account: Account<'_>,
        agent: &AgentName,
        model: &str,
        kind: Kind,
    ) -> Result<Result<usize, String>, LibraryTrouble> {
        let (folder, name) = (self.index_folder(account.library), model.to_owned());
        let opened = blocking(move || -> Result<_, IndexError> {
            if Reader::open(&folder, kind)?.has_all_vectors(&name)? {
                return Ok(None);
            }
            let index = Index::open(&folder, kind)?;
            let missing = index.without_vector(&index.reader.vectors(&name))?;
            Ok(Some((index, missing)))
        });
        let Some((index, missing)) = opened.await?? else { return Ok(Ok(0)) };
        let mut said = Ok(missing.len());
        let mut made = BTreeMap::new();
        for batch in missing.chunks(BATCH) {
            let texts = batch.iter().map(|(_, text)| text.chars().take(LONGEST).collect()).collect();
            match self.embed(account, agent, texts).await? {
                Ok(vectors) => made.extend(batch.iter().map(|(hash, _)| hash.clone()).zip(vectors)),
                Err(why) => {
                    said = Err(why);
                    break;
                }
            }
        }
        let name = model.to_owned();
        blocking(move || index.keep_vectors(&name, &made)).await??;
        Ok(said)
    }

    async fn embed(
        &self,
        account: Account<'_>,
        agent: &AgentName,
        texts: Vec<String>,
    ) -> Result<Result<Vec<Vec<f32>>, String>, LibraryTrouble> {
        let name = format!("embeddings/{}", &sha256_hex(texts.join("\0").as_bytes())[..16]);
        let slot = Slot { run: account.run, case_id: account.case_id, agent, name, tree: None };
        Ok(self.agents.embed(account.policy, &slot, &texts).await.map_err(EngineError::from)?)
    }
}

/// Vectors of two models, or of one model at two places, have nothing to do with each other.
pub fn model_of(account: Account<'_>, agent: &AgentName) -> Option<String> {
    match account.policy.agents.get(agent).map(AgentConfig::means) {
        Some(Means::Model(_, config)) => Some(format!("{} {}", config.base_url.as_deref().unwrap_or_default(), config.model)),
        Some(Means::Cli(..) | Means::Rules | Means::Sarif | Means::Command | Means::NotTrusted) | None => None,
    }
}
