//! The language that prose on a pull request is written in (PR-83): that of its description, or else of the issue it links, or else
//! English. Labels, codes, slugs and markers stay English everywhere (PR-84).

use whatlang::{Lang, detect};

/// Fewer letters than this are no prose.
const MIN_LETTERS: usize = 40;

/// Did somebody write something, and not only code, links and template?
pub fn has_prose(text: &str) -> bool {
    prose(text).chars().filter(|c| c.is_alphabetic()).count() >= MIN_LETTERS
}

/// The English name of the language to write in; nothing for English.
pub fn language_of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    for text in texts {
        if !has_prose(text) {
            continue;
        }
        let found = detect(&prose(text)).filter(|found| found.is_reliable())?;
        return (found.lang() != Lang::Eng).then(|| found.lang().eng_name());
    }
    None
}

/// What people wrote: no code, no links, no markup, no hidden comments, no template check boxes.
fn prose(text: &str) -> String {
    let mut kept = String::new();
    let (mut in_code, mut in_comment) = (false, false);
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        let mut rest = line;
        if in_code || line.starts_with('#') || line.starts_with('|') || line.starts_with("- [") {
            continue;
        }
        while !rest.is_empty() {
            if in_comment {
                match rest.split_once("-->") {
                    Some((_, behind)) => (in_comment, rest) = (false, behind),
                    None => break,
                }
                continue;
            }
            match rest.split_once("<!--") {
                Some((before, behind)) => {
                    kept.push_str(before);
                    (in_comment, rest) = (true, behind);
                }
                None => {
                    kept.push_str(rest);
                    break;
                }
            }
        }
        kept.push(' ');
    }
    kept.split_whitespace()
        .filter(|word| !word.contains("://") && !word.contains('`') && !word.contains('/'))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PR-83: description, then linked issue, then English.
    #[test]
    fn the_language_is_the_description_s() {
        let german = "Dieser Vorschlag behebt einen Fehler beim Einlesen der Rechnungen, der seit dem letzten Update auftritt.";
        let english = "This change repairs the reading of invoices, which has been broken since the last update of the library.";
        let french =
            "Cette modification corrige la lecture des factures, qui ne fonctionnait plus depuis la dernière mise à jour.";
        assert_eq!(language_of([german]), Some("German"));
        assert_eq!(language_of([english, german]), None);
        assert_eq!(language_of(["fixes #7", french]), Some("French"));
        assert_eq!(language_of(["", ""]), None);
    }

    #[test]
    fn code_and_templates_are_no_prose() {
        let body = "<!-- Please describe your change in English, thank you very much for it -->\n## Description\n```\nif this then that else something\n```\nBehebt den Fehler, durch den beim Speichern der Einstellungen alle Umlaute verloren gegangen sind.\n- [ ] I have read the contributing guide and agree";
        assert_eq!(language_of([body]), Some("German"));
    }
}
