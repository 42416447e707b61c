//! What names say that a value is secret: one table for variables of the environment and for assignments in code.

/// These, anywhere in a name.
pub const WORDS: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL"];
/// These, as one of the parts of a name that `_` joins.
pub const PARTS: [&str; 4] = ["PASS", "PWD", "PAT", "JWT"];
/// Folders, whatever their names say.
const FOLDERS: [&str; 2] = ["PWD", "OLDPWD"];

/// Does the name of a variable say that its value is secret?
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let has_part = name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| PARTS.contains(&part));
    !FOLDERS.contains(&name.as_str()) && (has_part || WORDS.iter().any(|word| name.contains(word)))
}

/// Does one of the name's parts say so by its end? `KEYVAULT_URL` does not.
pub fn ends_as_secret(part: &str) -> bool {
    PARTS.contains(&part) || WORDS.iter().any(|word| part.strip_suffix('S').unwrap_or(part).ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::super::known::KnownSecrets;
    use super::super::mask::{KEY_ENTROPY, entropy, mask};
    use super::*;
    use crate::findings::leak::secrets_of;
    use proptest::prelude::*;

    proptest! {
        /// C13: a word of the table hides a value in code and in the environment, whatever the value begins with.
        #[test]
        fn every_word_hides_its_value(value in "[A-Za-z0-9+/]{6}[a-z][A-Z][0-9][a-z][A-Z][0-9]{2}[A-Za-z0-9+/]{6}", at in 0..WORDS.len() + PARTS.len()) {
            let word = *WORDS.iter().chain(&PARTS).nth(at).unwrap();
            let name = if word == "KEY" { "API_KEY".to_owned() } else { format!("db_{word}") };
            prop_assert_eq!(secrets_of(&name, &value, |_| false), vec![value.as_str()]);
            let text = format!("x {value} y");
            prop_assert!(KnownSecrets::new([value.as_str()]).is_in(&text));
            // In code, a path, a placeholder word or a few repeated letters are not masked.
            prop_assume!(entropy(&value) >= KEY_ENTROPY);
            prop_assume!(!value.starts_with('/') && !["your", "xxxx"].iter().any(|word| value.to_lowercase().contains(word)));
            for name in [name.clone(), name.to_lowercase()] {
                for line in [format!("{name} = \"{value}\";"), format!("{name}: '{value}'"), format!("\"{name}\": `{value}`")] {
                    let masked = mask(&line);
                    prop_assert!(!masked.contains(&value), "{}", masked);
                }
            }
        }
    }

    #[test]
    fn folders_and_files_are_no_secrets() {
        assert!(secrets_of("PWD", "/home/somebody", |_| false).is_empty());
        assert!(secrets_of("SSH_KEY", "/home/somebody/.ssh/id", |path| path.starts_with("/home")).is_empty());
        assert!(secrets_of("SSH_KEY", "~/.ssh/id_ed25519", |_| false).is_empty());
        assert!(secrets_of("PATH", "/usr/bin:/usr/local/bin", |_| false).is_empty());
        let credentials = "{ \"type\": \"service_account\",\n \"token\": \"ya29.Xk29vLq8Zt4mPw7RXk29vLq8\" }";
        assert_eq!(secrets_of("GOOGLE_CREDENTIALS", credentials, |_| false), ["ya29.Xk29vLq8Zt4mPw7RXk29vLq8"]);
    }
}
