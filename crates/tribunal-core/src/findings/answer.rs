//! The JSON in a model's answer.
//!
//! Models are asked for JSON and nothing else, and many put a sentence before it, a fence around it or a farewell behind it. What is
//! around the JSON is dropped. Which of several objects is the answer is never guessed, and an answer that was cut off is none: a short
//! example in front of it would read as a clean report.

use serde::de::IgnoredAny;

/// Why no JSON can be taken out of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum AnswerError {
    #[error("it is cut off: the JSON object at character {0} does not end")]
    CutOff(usize),
    #[error("the JSON object at character {0} is broken: {1}")]
    Broken(usize, String),
    #[error("it holds {0} different JSON objects that fit, and nothing says which is the answer")]
    Several(usize),
}

/// The answer: the whole text, or the one JSON object in it that `read` can read. Where it can read none, the reason is that of the last
/// one.
pub fn read_answer<T: PartialEq>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, String> {
    let text = text.trim();
    let whole = match serde_json::from_str::<IgnoredAny>(text) {
        Ok(IgnoredAny) => return read(text),
        Err(error) => error,
    };
    let objects = objects(text).map_err(|error| error.to_string())?;
    let mut answers: Vec<T> = Vec::new();
    let mut problem = None;
    for object in objects {
        match read(object) {
            Ok(answer) if answers.contains(&answer) => {}
            Ok(answer) => answers.push(answer),
            Err(reason) => problem = Some(reason),
        }
    }
    match (answers.len(), answers.pop()) {
        (1, Some(answer)) => Ok(answer),
        (0, _) | (_, None) => Err(problem.unwrap_or_else(|| not_json(text, &whole))),
        (count, Some(_)) => Err(AnswerError::Several(count).to_string()),
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> String {
    let start: String = text.chars().take(60).collect();
    format!("it is not one JSON value: {error} (it begins `{}`)", super::admit::one_line(&start))
}

/// Every JSON object of the text that is part of no other one. An object that cannot be read makes the whole text unreadable: what stands
/// in it may look like an answer and be a quotation.
fn objects(text: &str) -> Result<Vec<&str>, AnswerError> {
    let mut objects = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find('{') {
        let begin = at + next;
        let rest = &text[begin..];
        // A brace of prose or code is followed by something else.
        if !rest[1..].trim_start().starts_with(['"', '}']) && !rest[1..].trim().is_empty() {
            at = begin + 1;
            continue;
        }
        let place = || text[..begin].chars().count() + 1;
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(IgnoredAny)) => {
                at = begin + values.byte_offset();
                objects.push(&text[begin..at]);
            }
            Some(Err(error)) if !error.is_eof() => return Err(AnswerError::Broken(place(), error.to_string())),
            Some(Err(_)) | None => return Err(AnswerError::CutOff(place())),
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::report::Report;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Report, String> {
        read_answer(text, |json| serde_json::from_str::<Report>(json).map_err(|error| error.to_string()))
    }

    const CLAIM: &str = r#"{"category": "S1", "file": "a.py", "confidence": "high", "blast": "local", "evidence": "f({x})", "failure_mode": "it breaks {\"so\"}"}"#;

    /// Issue 18, section 0, point 4: what models put around their JSON.
    #[test]
    fn prose_and_fences_around_the_answer_are_dropped() {
        let report = format!("{{\"findings\": [{CLAIM}]}}");
        for text in [
            report.clone(),
            format!("  {report}\n"),
            format!("```json\n{report}\n```"),
            format!("Here is my review:\n\n{report}"),
            format!("I looked at `fn f() {{ g() }}` and {{x}}.\n```json\n{report}\n```\nLet me know if you need more."),
            format!("{report}\n\nOne remark: `{{}}` is fine, and so is {{a: 1}}."),
            format!("First: {report}\nAgain, in full:\n{report}"),
            format!("<answer>{report}</answer>"),
        ] {
            assert_eq!(read(&text).map(|report| report.findings.len()), Ok(1), "{text}");
        }
    }

    /// Design rule 1: what cannot be told to be the whole answer is none.
    #[test]
    fn an_answer_that_may_be_another_one_is_none() {
        let report = format!("{{\"findings\": [{CLAIM}]}}");
        let clean = r#"{"findings": []}"#;
        for (text, why) in [
            (String::new(), "not one JSON value"),
            ("LGTM!".to_owned(), "not one JSON value"),
            (format!("An empty one is {clean}.\n{report}"), "2 different JSON objects that fit"),
            (format!("An empty one is {clean}.\n{}", &report[..report.len() - 9]), "does not end"),
            (format!("{clean} and then {{"), "does not end"),
            // A quotation that was not escaped.
            (format!("{{\"findings\": [{{\"evidence\": \"x = {clean}\"}}]}}"), "is broken"),
            (format!("Here: {{\"findings\": [{CLAIM}],}}"), "is broken"),
            ("Here: {\"findngs\": []}".to_owned(), "unknown field `findngs`"),
            (format!("Here: {{\"findings\": [{CLAIM}], \"findings\": []}}"), "duplicate field"),
            ("Here: {}".to_owned(), "missing field `findings`"),
            ("[]".to_owned(), "invalid"),
        ] {
            let problem = read(&text).map(|report| report.findings.len()).unwrap_err();
            assert!(problem.contains(why), "{text}: {problem}");
        }
    }

    proptest! {
        /// Prose without braces changes nothing, and no cut of an answer is an answer.
        #[test]
        fn prose_changes_nothing_and_a_cut_answer_is_none(before in "[^{}]{0,40}", after in "[^{}]{0,40}", cut in 1usize..200) {
            let report = format!("{{\"findings\": [{CLAIM}]}}");
            let whole = format!("{before}{report}{after}");
            prop_assert_eq!(read(&whole).map(|report| report.findings.len()), Ok(1));
            let end = report.len() - 1 - cut % (report.len() - 1);
            let cut = format!("{before}{}", &report[..end]);
            prop_assert!(read(&cut).is_err(), "{}", cut);
        }
    }
}
