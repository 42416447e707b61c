use super::*;
use proptest::prelude::*;

/// Issue 16, C13: the finding about a committed key stays; the key does not.
#[test]
fn keys_are_shown_by_their_start_and_length() {
    let masked = mask("The key AKIAIOSFODNN7EXAMPLE is committed; task-force is not a key, nor is sk-short.");
    assert!(
        masked.starts_with("The key AKIA…(20 masked, ")
            && masked.ends_with(" is committed; task-force is not a key, nor is sk-short.")
    );
    assert_eq!(mask("password = \"hunter2hunter2\""), "password = \"hun…(14 masked)\"");
}

/// Two keys of one vendor stay two findings.
#[test]
fn two_keys_have_two_masks() {
    assert_ne!(mask("AKIAIOSFODNN7EXAMPLE"), mask("AKIAQ3WZ7T5RY2KXQ3WZ"));
}

#[test]
fn every_kind_of_key_is_found() {
    for secret in [
        concat!("gh", "p_A3f8LrW1d6JmSxb4G9NtY2E7kpUzC5h0Qv1d"),
        concat!("gi", "thub_pat_11ABCDEFG0aBcDeFgHiJkL_mnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg"),
        concat!("gl", "pat-A3f8LrW1d6JmSxb4G9Nt"),
        concat!("sk", "-ant-api03-A3f8LrW1d6JmSxb4G9NtY2E7kpUzC5h0Qv1dA3f8LrW1d6JmSxb4G9NtY2E7kpUz"),
        concat!("xo", "xb-123456789012-A3f8LrW1d6JmSxb4"),
        concat!("AI", "zaA3f8LrW1d6JmSxb4G9NtY2E7kpUzC5h0Qv1"),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        concat!("sk", "_live_A3f8LrW1d6JmSxb4G9Nt"),
        concat!("np", "m_A3f8LrW1d6JmSxb4G9NtY2E7kpUzC5h0Qv1d"),
    ] {
        for text in [secret.to_owned(), format!("x = \"{secret}\""), format!("use ({secret}), now"), format!("+{secret}")] {
            let masked = mask(&text);
            assert!(!masked.contains(secret) && masked.contains("masked"), "{text} -> {masked}");
        }
    }
    for (text, secret) in [
        ("db = connect('postgres://shop:s3cr3tpw@db/shop')", "s3cr3tpw"),
        ("Authorization: Bearer abcdefghijklmnop", "abcdefghijklmnop"),
        ("DB_PASSWORD=Zx9vQ2mT7pLr4WkY8sBn", "Zx9vQ2mT7pLr4WkY8sBn"),
        ("{\"apiKey\": \"f3a9c17be2d8405f9b6a7c1d2e3f4a5b\"}", "f3a9c17be2d8405f9b6a7c1d2e3f4a5b"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzKEYA", "wJalrXUtnFEMI"),
    ] {
        assert!(!mask(text).contains(secret), "{}", mask(text));
    }
}

#[test]
fn a_private_key_is_masked_line_by_line() {
    let line = |n: u8| format!("MIIEowIBAAKCAQEA{}qV7hT9xLk2Zr5WcPf8sNbYgD3mJvXeQ0", n);
    let pem = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n{}\n-----END RSA PRIVATE KEY-----", line(1), line(2));
    let in_diff = pem.lines().map(|line| format!("+{line}")).collect::<Vec<_>>().join("\n");
    let in_string = format!("KEY = \"{}\"", pem.replace('\n', "\\n"));
    for text in [&pem, &in_diff, &in_string] {
        let masked = mask(text);
        assert!(!masked.contains(&line(1)[4..]) && !masked.contains(&line(2)[4..]), "{masked}");
        assert!(masked.contains("BEGIN RSA PRIVATE KEY") && masked.lines().count() == text.lines().count(), "{masked}");
        assert_eq!(mask(&masked), masked);
    }
    let prose =
        "A block of -----BEGIN PRIVATE KEY----- was committed.\nInternationalisation is unaffected by it, whatever happens.";
    assert_eq!(mask(prose), prose);
}

#[test]
fn code_and_prose_are_left_alone() {
    for text in [
        "password = os.environ[\"DB_PASSWORD\"]",
        "password = \"<your password>\"",
        "token = read_token(path)",
        "let token = session.token_v2_for(user);",
        "if not password: raise ValueError(\"password missing\")",
        "url = f\"https://{user}:{word}@host\"",
        "secret_name = \"projects/p1/secrets/db-password/versions/2\"",
        "API_KEY_HEADER = \"X-Api-Key-Version-2024\"",
        "head 3f786850e387550fdab836ed7e6dc881de23001b, see `Vec<String>` and **bold** [text](https://example.org/a?b=c)",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "The token is compared with `==`, so timing tells it.",
        "<!-- pr-review:finding-id=F1 -->",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn a_quote_about_a_credential_shows_no_value_with_its_name() {
    assert_eq!(mask("password = \"correcthorse\""), "password = \"correcthorse\"");
    assert_eq!(mask_as("password = \"correcthorse\"", Suspicion::AboutSecrets), "password = \"cor…(12 masked)\"");
}

proptest! {
    /// Masking is idempotent and keeps lines, whatever stands around a key.
    #[test]
    fn masking_twice_changes_nothing(
        before in "[ a-zA-Z0-9\"'=:_\\-\n/@.…()+]{0,60}",
        key in prop::sample::select(vec!["AKIAQ3WZ7T5RY2KXQ3WZ", concat!("gh", "p_A3f8LrW1d6JmSxb4G9NtY2E7kpUzC5h0Qv1d"), "password = \"q7Zr!2kLx9Pv4TnW8s\"", "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEAqV7hT9xLk2Zr5WcPf8sNbYgD3mJvXeQ0\n"]),
        after in "[ a-zA-Z0-9\"'=:_\\-\n/@.…()+]{0,60}",
    ) {
        let text = format!("{before}{key}{after}");
        for suspicion in [Suspicion::Usual, Suspicion::AboutSecrets] {
            let masked = mask_as(&text, suspicion);
            prop_assert_eq!(mask_as(&masked, suspicion), masked.clone());
            prop_assert_eq!(masked.split('\n').count(), text.split('\n').count());
        }
    }

    /// Words, punctuation and Markdown are no keys.
    #[test]
    fn plain_words_are_left_alone(text in "([A-Za-z]{1,12}[ .,;:()*`\n]){0,30}") {
        prop_assert_eq!(mask(&text), text);
    }
}

#[test]
fn every_pattern_is_one_and_fits_its_set() {
    assert!(SHAPES.is_whole() && ANNOUNCED.is_whole() && ASSIGNED.is_whole());
}
