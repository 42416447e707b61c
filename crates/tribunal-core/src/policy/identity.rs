//! `[identity]`: machine accounts that the registry of review bots does not know (CF-10).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdentityConfig {
    /// Login → the name it goes by in filters and reports, or `{ name, id }` with the account's id. A login can be given up and taken
    /// by somebody else, so the name alone gives no right: what the account says is acted on only if the forge calls it a bot, if its
    /// id is this one, or if it may write to the repository.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bots: Bots,
}

/// By login.
pub type Bots = BTreeMap<String, BotAccount>;

/// A machine account that the configuration names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Written", into = "Written")]
#[schemars(with = "Written")]
pub struct BotAccount {
    /// What it is called in filters and reports.
    pub name: String,
    /// The forge's id of the account, which nobody else can get.
    pub id: Option<String>,
}

impl BotAccount {
    pub fn named(name: &str) -> Self {
        BotAccount { name: name.to_owned(), id: None }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Name(String),
    Account(WrittenAccount),
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenAccount {
    name: String,
    id: WrittenId,
}

/// Most forges count their accounts.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum WrittenId {
    Number(u64),
    Text(String),
}

impl From<Written> for BotAccount {
    fn from(written: Written) -> Self {
        match written {
            Written::Name(name) => BotAccount { name, id: None },
            Written::Account(WrittenAccount { name, id: WrittenId::Number(id) }) => BotAccount { name, id: Some(id.to_string()) },
            Written::Account(WrittenAccount { name, id: WrittenId::Text(id) }) => BotAccount { name, id: Some(id) },
        }
    }
}

impl From<BotAccount> for Written {
    fn from(bot: BotAccount) -> Self {
        match bot.id {
            None => Written::Name(bot.name),
            Some(id) => Written::Account(WrittenAccount { name: bot.name, id: WrittenId::Text(id) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bot_is_named_with_or_without_its_id() {
        let config: IdentityConfig = toml::from_str(
            "bots = { lint = \"lintbot\", \"ci[bot]\" = { name = \"ci\", id = 41 }, x = { name = \"y\", id = \"42\" } }",
        )
        .unwrap();
        assert_eq!(config.bots["lint"], BotAccount::named("lintbot"));
        assert_eq!(config.bots["ci[bot]"], BotAccount { name: "ci".into(), id: Some("41".into()) });
        assert_eq!(config.bots["x"].id.as_deref(), Some("42"));
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<IdentityConfig>(&text).unwrap(), config);
        assert!(toml::from_str::<IdentityConfig>("bots = { x = { name = \"y\", id = 1, admin = true } }").is_err());
    }
}
