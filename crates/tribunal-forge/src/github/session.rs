//! Which token a request goes out with. A given token serves everything; an App has a token for each phase, minted when first needed.
//! Each token has a client of its own, since tags and limits are bound to the token.

use super::app::{App, Minted};
use super::{API_VERSION, Auth, Phase, Settings};
use crate::http::client::{Http, Settings as HttpSettings};
use crate::http::credential::{AuthScheme, Credential};
use crate::http::limits::Limits;
use crate::port::Answered;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tribunal_core::policy::credentials::token::BoundToken;
use tribunal_core::pull::place::Project;

/// A token is taken as over this long before it is, so that none runs out on its way.
const MARGIN: u64 = 300;

pub struct Sessions {
    rest: String,
    project: Project,
    auth: Auth,
    settings: Kept,
    by_phase: tokio::sync::Mutex<BTreeMap<Phase, Session>>,
    /// For git, which needs one without waiting: the last one that was used for reading.
    readable: Mutex<Option<BoundToken>>,
}

struct Kept {
    cache: Option<std::path::PathBuf>,
    pace: crate::http::pace::Pace,
    patience: u64,
}

struct Session {
    http: Arc<Http>,
    /// Seconds since 1970; nothing for a token that was given.
    expires: Option<u64>,
}

impl Sessions {
    pub fn new(rest: &str, settings: Settings) -> Answered<Self> {
        let kept = Kept { cache: settings.cache, pace: settings.pace, patience: settings.patience };
        let mut by_phase = BTreeMap::new();
        let mut readable = None;
        if let Auth::Token(token) = &settings.auth {
            let http = Arc::new(client(rest, token, &kept, kept.cache.clone())?);
            for phase in [Phase::Read, Phase::Logs, Phase::Publish, Phase::Merge] {
                by_phase.insert(phase, Session { http: Arc::clone(&http), expires: None });
            }
            readable = Some(token.clone());
        }
        Ok(Sessions {
            rest: rest.to_owned(),
            project: settings.project,
            auth: settings.auth,
            settings: kept,
            by_phase: tokio::sync::Mutex::new(by_phase),
            readable: Mutex::new(readable),
        })
    }

    /// Something that stays the same for as long as the account does, to remember the account by.
    pub fn account_key(&self) -> String {
        match &self.auth {
            Auth::Token(token) => token.digest(),
            Auth::App(app) => format!("app {} in {}", app.issuer, self.project.path),
        }
    }

    /// May make check runs: an App, or the token of one.
    pub fn is_app(&self) -> bool {
        match &self.auth {
            Auth::App(_) => true,
            // Only a hint, and a wrong one costs no more than a refusal: a token's form is never relied upon.
            Auth::Token(token) => token.starts_with("ghs_"),
        }
    }

    /// Minted tokens are new in every run, and a tag dies with its token.
    pub fn keeps_tags(&self) -> bool {
        matches!(self.auth, Auth::Token(_)) && self.settings.cache.is_some()
    }

    pub fn git_token(&self) -> Option<BoundToken> {
        self.readable.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn http(&self, phase: Phase) -> Answered<Arc<Http>> {
        let mut by_phase = self.by_phase.lock().await;
        if let Some(session) = by_phase.get(&phase)
            && session.expires.is_none_or(|at| now() + MARGIN < at)
        {
            return Ok(Arc::clone(&session.http));
        }
        let Auth::App(app) = &self.auth else {
            return Err(tribunal_core::pull::fault::ForgeFault::Unauthorized {
                host: self.project.host().to_owned(),
                message: "there is no token".into(),
            });
        };
        let minted = self.mint(app, phase).await?;
        let http = Arc::new(client(&self.rest, &minted.token, &self.settings, None)?);
        if phase == Phase::Read {
            *self.readable.lock().unwrap_or_else(PoisonError::into_inner) = Some(minted.token);
        }
        by_phase.insert(phase, Session { http: Arc::clone(&http), expires: Some(minted.expires) });
        Ok(http)
    }

    async fn mint(&self, app: &App, phase: Phase) -> Answered<Minted> {
        let jwt = app.signed_token(self.project.host(), now())?;
        let http = client(&self.rest, &jwt, &self.settings, None)?;
        app.mint(&http, &self.project, phase, now()).await
    }

    /// Forgets the session of a token that was refused, if a new one can be had. `false`: there is no other token.
    pub async fn renew(&self, phase: Phase, refused: &Arc<Http>) -> bool {
        if matches!(self.auth, Auth::Token(_)) {
            return false;
        }
        let mut by_phase = self.by_phase.lock().await;
        // Somebody else may have renewed it meanwhile.
        if by_phase.get(&phase).is_some_and(|session| Arc::ptr_eq(&session.http, refused)) {
            by_phase.remove(&phase);
        }
        true
    }

    pub async fn counts(&self) -> (u64, u64) {
        let by_phase = self.by_phase.lock().await;
        let mut seen: Vec<&Arc<Http>> = Vec::new();
        for session in by_phase.values() {
            if !seen.iter().any(|http| Arc::ptr_eq(http, &session.http)) {
                seen.push(&session.http);
            }
        }
        seen.iter().map(|http| http.counts()).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }
}

fn client(rest: &str, token: &BoundToken, kept: &Kept, cache: Option<std::path::PathBuf>) -> Answered<Http> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/vnd.github+json"));
    headers.insert(HeaderName::from_static("x-github-api-version"), HeaderValue::from_static(API_VERSION));
    let settings = HttpSettings {
        api: rest.to_owned(),
        headers,
        credential: Some(Credential::new(token.clone(), AuthScheme::Bearer)?),
        pace: kept.pace,
        cache,
        limits: Limits::default(),
    };
    Ok(Http::new(settings)?.with_patience(kept.patience))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs())
}
