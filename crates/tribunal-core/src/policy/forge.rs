//! `[forge]`: which server a token is for, and where it is taken from. Only a person's own file and the environment are asked; a
//! repository's file says nothing about tokens.

use super::agents::KeySource;
use crate::pull::place::ForgeKind;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForgeConfig {
    /// The server that `TRIBUNAL_TOKEN`, `GITEA_TOKEN`, `FORGEJO_TOKEN`, `forge.token` and a GitHub App are for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What runs on the host, when asking it is not wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ForgeKind>,
    /// Where the token for `url` comes from, when no variable holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<KeySource>,
    /// Use the token that the forge's own command line tool (gh, glab, tea) has for a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_cli: Option<bool>,
    /// `[forge."git.example.org"]`: the same for one server.
    #[serde(flatten, deserialize_with = "servers")]
    pub servers: BTreeMap<String, ServerConfig>,
}

/// One server, by its host (with a port if it has one) or its address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerConfig {
    /// What runs there, when asking it is not wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ForgeKind>,
    /// Where the token for this server comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<KeySource>,
    /// Use the token that the forge's own command line tool has for this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub use_cli: Option<bool>,
}

/// Whatever is none of the keys above must be a table with the name of a host; a misspelt key is none.
fn servers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, ServerConfig>, D::Error> {
    let tables: BTreeMap<String, serde_json::Value> = BTreeMap::deserialize(deserializer)?;
    let mut servers = BTreeMap::new();
    for (name, table) in tables {
        let is_host = name == "localhost" || name.contains(['.', ':']);
        if !is_host || !table.is_object() {
            return Err(D::Error::custom(format!("unknown field `{name}`, expected one of `url`, `kind`, `token`, `use_cli`")));
        }
        servers.insert(name, serde_json::from_value(table).map_err(D::Error::custom)?);
    }
    Ok(servers)
}

#[cfg(test)]
mod tests {
    use crate::policy::layers::read_layer;

    #[test]
    fn a_misspelt_key_is_no_host() {
        for (text, near) in [("[forge]\nknd = 'gitea'", "kind"), ("[forge]\ntokn = { env = 'X' }", "token")] {
            let refused = read_layer("x", text).unwrap_err();
            assert!(refused.problem.contains("unknown field"), "{refused}");
            assert_eq!(refused.help, Some(format!("did you mean `{near}`?")));
        }
        assert!(read_layer("x", "[forge.'git.corp']\nknd = 'gitea'").is_err());
        assert!(read_layer("x", "[forge.'git.corp:3000']\nkind = 'gitea'\n[forge.'http://127.0.0.1:1']\nuse_cli = true").is_ok());
    }
}
