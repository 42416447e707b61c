//! One story for every forge: a pull request is reviewed, changed, reviewed again, and nothing is said twice.

use super::town::{Machine, Said, Town, assert_no_repetition};
use forge_conformance::{Voice as _, Who};
use tribunal_core::findings::anchor::Side;
use tribunal_core::pull::capability::Capability;
use tribunal_core::pull::facts::{CheckState, PullState};
use tribunal_core::pull::place::ForgeKind;
use tribunal_core::pull::talk::{NewComment, NewReview, ReviewEvent, ReviewState, Thread};

pub const UNSAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.load(text)\n";
const SAFE: &str = "import yaml\n\n\ndef load(text):\n    return yaml.safe_load(text)\n";
const TOTAL: &str = "def total(items=[]):\n    items.append(1)\n    return sum(items)\n";

fn open(document: &serde_json::Value) -> Vec<String> {
    let mut slugs: Vec<String> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["slug"].as_str().unwrap_or_default().to_owned())
        .collect();
    slugs.sort();
    slugs
}

/// Issue 5: publish → nothing new → push → fixed → back → dismissed, and each thread's state is right after each.
pub async fn a_whole_life(town: &Town) {
    let (number, branch, head) = town.pull(&[("app.py", Some(UNSAFE)), ("sum.py", Some(TOTAL))]).await;
    let can_resolve = town.stage.forge_as(Who::Bot).capabilities().await.unwrap().can(Capability::Resolve);

    let first = town.review(number);
    assert_eq!(open(&first), ["py-mutable-default-argument", "py-yaml-unsafe-load"]);
    assert!(first["publication"]["writes"].as_u64().unwrap() <= 4 || !one_call(town).await, "{}", first["publication"]);
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));
    assert_eq!(town.stickies(number).await.len(), 1);
    let threads = town.threads(number).await;
    assert_eq!(threads.len(), 2);
    let yaml = threads.iter().find(|thread| thread.path == "app.py").unwrap();
    assert_eq!(yaml.line, Some(5), "the comment sits on its line");

    // PR-28: the same head again says nothing.
    let again = town.run(&["review", &town.address(number)]).ended(1);
    assert!(again.stderr.contains("Nothing new since"), "{}", again.stderr);
    assert_eq!(town.threads(number).await, threads);

    // A push that fixes one of two.
    let fixed = town.stage.push(&branch, &[("app.py", Some(SAFE))], "safe").await;
    let second = town.review(number);
    assert_eq!(open(&second), ["py-mutable-default-argument"]);
    assert_eq!(town.status(&fixed).await, Some(CheckState::Success));
    let yaml = thread_of(town, number, "app.py").await;
    assert!(last_words(&yaml).starts_with(&format!("Fixed in {fixed}. ")), "{}", last_words(&yaml));
    assert_eq!(yaml.resolved, can_resolve);
    assert!(!thread_of(town, number, "sum.py").await.resolved);

    // It comes back: the old thread says so and is open again.
    let back = town.stage.push(&branch, &[("app.py", Some(UNSAFE))], "unsafe again").await;
    town.review(number);
    let yaml = thread_of(town, number, "app.py").await;
    assert!(last_words(&yaml).starts_with(&format!("Present again in {back}")), "{}", last_words(&yaml));
    assert!(!yaml.resolved);
    assert_eq!(town.status(&back).await, Some(CheckState::Failure));

    // A maintainer's word clears it, and needs no new review.
    if town.stage.has_accounts() {
        let id = first["findings"].as_array().unwrap().iter().find(|finding| finding["file"] == "app.py").unwrap()["id"].clone();
        let word = format!("/tribunal dismiss {} it is our own file", id.as_str().unwrap());
        town.stage.forge_as(Who::Stranger).comment(number, &word).await.unwrap();
        let unmoved = town.run(&["review", &town.address(number)]).ended(1);
        assert!(!unmoved.stdout.contains("dismissed"), "a stranger's word counts for nothing: {}", unmoved.stdout);
        town.stage.forge_as(Who::Maintainer).comment(number, &word).await.unwrap();
        let dismissed = town.run(&["review", &town.address(number)]).ended(0);
        assert!(dismissed.stdout.contains("1 dismissed"), "{}", dismissed.stdout);
        assert_eq!(town.status(&back).await, Some(CheckState::Success));
        assert!(last_words(&thread_of(town, number, "app.py").await).starts_with("Declined: it is our own file"));
    }
    assert_eq!(town.stickies(number).await.len(), 1);
    assert_no_repetition(&town.threads(number).await);
}

async fn one_call(town: &Town) -> bool {
    town.stage.forge_as(Who::Bot).capabilities().await.unwrap().can(Capability::OneCallReview)
}

async fn thread_of(town: &Town, number: u64, path: &str) -> Thread {
    town.threads(number).await.into_iter().find(|thread| thread.path == path).unwrap()
}

fn last_words(thread: &Thread) -> &str {
    &thread.comments.last().unwrap().body
}

/// Issue 5: ten pushes in a row give no repeated comment, and each thread's state is right after each.
pub async fn ten_pushes(town: &Town) {
    let (number, branch, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    let can_resolve = town.stage.forge_as(Who::Bot).capabilities().await.unwrap().can(Capability::Resolve);
    town.review(number);
    for round in 1..=10 {
        // The finding comes and goes, moves down, and other files come along.
        let is_there = round % 3 != 0;
        let text = format!("{}{}", "# moved\n".repeat(round), if is_there { UNSAFE } else { SAFE });
        let other = format!("note_{round}.md");
        let head =
            town.stage.push(&branch, &[("app.py", Some(&text)), (&other, Some("text\n"))], &format!("round {round}")).await;
        let document = town.review(number);
        assert_eq!(open(&document).len(), usize::from(is_there), "round {round}: {:?}", open(&document));
        let wanted = if is_there { CheckState::Failure } else { CheckState::Success };
        assert_eq!(town.status(&head).await, Some(wanted), "round {round}");
        assert_eq!(town.states(number).await, [("py-yaml-unsafe-load".to_owned(), !is_there && can_resolve)], "round {round}");
        assert_eq!(town.stickies(number).await.len(), 1, "round {round}");
        assert_no_repetition(&town.threads(number).await);
    }
}

/// CF-8: another machine, without the ledger of the first, goes on from what stands on the pull request.
pub async fn another_machine(town: &Town) {
    let (number, branch, _) = town.pull(&[("app.py", Some(UNSAFE)), ("sum.py", Some(TOTAL))]).await;
    town.review(number);
    town.stage.push(&branch, &[("app.py", Some(SAFE))], "safe").await;
    let other = Machine::new();
    let said = town.run_on(&other, &["review", &town.address(number), "--format", "json"]);
    let document = said.json();
    assert_eq!(document["receipt"]["mode"], "incremental", "{}", said.stderr);
    assert_eq!(document["iteration"], 2);
    assert_eq!(document["findings"][0]["id"], first_id(&document, "sum.py"));
    assert_eq!(town.threads(number).await.len(), 2);
    assert_eq!(town.stickies(number).await.len(), 1);
}

fn first_id(document: &serde_json::Value, file: &str) -> serde_json::Value {
    document["findings"].as_array().unwrap().iter().find(|finding| finding["file"] == file).unwrap()["id"].clone()
}

/// Pain 5: two findings on one line, where a person has spoken before. Some forges make one conversation of it; nothing is said twice.
pub async fn one_line(town: &Town) {
    const TWO: &str = "import requests\n\n\ndef fetch(url):\n    return requests.get(url, verify=False)\n";
    let (number, branch, head) = town.pull(&[("net.py", Some(TWO))]).await;
    let said = NewReview {
        commit: head,
        event: ReviewEvent::Comment,
        body: "".into(),
        comments: vec![NewComment {
            path: "net.py".into(),
            old_path: "net.py".into(),
            side: Side::New,
            line: 5,
            start_line: None,
            body: "Is that on purpose?".into(),
        }],
    };
    town.stage.forge_as(Who::Maintainer).submit(number, &said).await.unwrap();
    let document = town.review(number);
    assert!(document["findings"].as_array().unwrap().iter().filter(|finding| finding["file"] == "net.py").count() >= 2);
    let count = |threads: &[Thread]| threads.iter().map(|thread| thread.comments.len()).sum::<usize>();
    let first = town.threads(number).await;
    let inline = document["findings"].as_array().unwrap().iter().filter(|finding| finding["inline"] == true).count();
    assert_eq!(count(&first), inline + 1);
    town.stage.push(&branch, &[("other.md", Some("text\n"))], "more").await;
    town.review(number);
    assert_eq!(count(&town.threads(number).await), count(&first), "nothing is said again");
    assert_eq!(town.stickies(number).await.len(), 1);
}

/// Pain 9: a force-push and a rebase repeat nothing, and answer what they fixed.
pub async fn a_force_push(town: &Town) {
    let (number, branch, _) = town.pull(&[("app.py", Some(UNSAFE)), ("sum.py", Some(TOTAL))]).await;
    town.review(number);
    town.stage.push("main", &[(&format!("{branch}.md"), Some("main moves on\n"))], "meanwhile").await;
    town.stage.force_push(&branch, &[("app.py", Some(SAFE)), ("sum.py", Some(TOTAL))], "all in one").await;
    let document = town.review(number);
    assert_eq!(open(&document), ["py-mutable-default-argument"]);
    assert!(last_words(&thread_of(town, number, "app.py").await).starts_with("Fixed in "));
    assert_eq!(town.threads(number).await.len(), 2);
    assert_no_repetition(&town.threads(number).await);
}

/// Design section 7, rule 9 of the issue: what the head says about its own review does not count.
pub async fn the_base_configures(town: &Town) {
    let config = "[rules]\ndisable = [\"py-yaml-unsafe-load\"]\n";
    let (number, _, head) = town.pull(&[("app.py", Some(UNSAFE)), (".tribunal.toml", Some(config))]).await;
    let document = town.review(number);
    assert!(open(&document).contains(&"py-yaml-unsafe-load".to_owned()), "{:?}", open(&document));
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));
}

/// Issue 5, build 10: an unprivileged job makes the receipt, a privileged one posts it.
pub async fn a_receipt_is_posted_elsewhere(town: &Town) {
    let (number, _, head) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    let file = town.machine.folder().join("r.json");
    let name = file.display().to_string();
    town.run(&["review", &town.address(number), "--no-publish", "--format", "json", "--output", &name]).ended(1);
    assert!(town.stickies(number).await.is_empty() && town.threads(number).await.is_empty());
    assert_eq!(town.status(&head).await, None);
    // Whoever made the receipt can write into it what they like.
    let mut forged: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    forged["findings"] = serde_json::json!([]);
    forged["outcome"] = "clean".into();
    let forged_file = town.machine.folder().join("forged.json");
    std::fs::write(&forged_file, forged.to_string()).unwrap();
    let forged_name = forged_file.display().to_string();
    let address = town.address(number);
    town.run(&["publish", &forged_name, &address]).ended(1);
    assert_eq!(town.status(&head).await, Some(CheckState::Failure), "a forged receipt turned nothing green");
    assert_eq!(town.threads(number).await.len(), 1);
    town.run(&["publish", &name, &address]).ended(1);
    assert_eq!(town.threads(number).await.len(), 1);
    assert_eq!(town.stickies(number).await.len(), 1);
    // Issue 16, point 11: it does not say where it goes, and must be of the pull request that was named, at its head.
    assert!(town.run(&["publish", &name]).ended(2).stderr.contains("no-pull-request"));
    let (other, _, other_head) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    assert!(town.run(&["publish", &name, &town.address(other)]).ended(2).stderr.contains("bad-receipt"));
    forged["pull"]["number"] = other.into();
    std::fs::write(&forged_file, forged.to_string()).unwrap();
    town.run(&["publish", &forged_name, &address]).ended(2);
    town.run(&["publish", &forged_name, &town.address(other)]).ended(75);
    assert!(town.stickies(other).await.is_empty() && town.threads(other).await.is_empty());
    assert_eq!(town.status(&other_head).await, None);
}

/// A machine on which one reviewer looks besides the rules, and says what the script prints.
pub fn with_a_reviewer(machine: &Machine, answer: &str) {
    let script = machine.folder().join("reviewer.sh");
    std::fs::write(&script, format!("#!/bin/sh\ncat > /dev/null\ncat <<'EOF'\n{answer}\nEOF\n")).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = format!(
        "[agents.one]\nkind = \"command\"\ncommand = [\"{}\"]\n[panel]\nsecurity-reviewer = [\"one\"]\n",
        script.display()
    );
    std::fs::create_dir_all(machine.folder().join(".config/tribunal")).unwrap();
    std::fs::write(machine.folder().join(".config/tribunal/config.toml"), config).unwrap();
}

/// Issue 16, point 12, as it was demonstrated: the public key of an open P0 with a lighter weight, and findings taken out where nobody
/// had looked before.
pub async fn a_forged_receipt_makes_nothing_better(town: &Town) {
    let code = "def total(items):\n    return sum(items)\n";
    let (number, _, head) = town.pull(&[("total.py", Some(code))]).await;
    let reviewer = Machine::new();
    with_a_reviewer(
        &reviewer,
        r#"{"findings":[{"category":"S1","file":"total.py","severity":"blocker","confidence":"high","blast":"cross-service","justification":"reachable","evidence":"return sum(items)","failure_mode":"Anybody adds what they like","mitigation":"Check it"}]}"#,
    );
    let address = town.address(number);
    let posted = town.run_on(&reviewer, &["review", &address, "--format", "json"]).ended(1).json();
    assert_eq!(posted["findings"][0]["p_code"], "P0", "{posted:#}");
    assert_eq!(town.status(&head).await, Some(CheckState::Failure));

    let publisher = Machine::new();
    let file = publisher.folder().join("forged.json");
    let name = file.display().to_string();
    let mut forged = posted.clone();
    forged["receipt"]["run"] = "r999".into();
    forged["findings"][0]["p_code"] = "P3".into();
    forged["outcome"] = "clean".into();
    std::fs::write(&file, forged.to_string()).unwrap();
    let after = town.run_on(&publisher, &["publish", &name, &address]).ended(1);
    assert_eq!(town.status(&head).await, Some(CheckState::Failure), "{after:?}");

    // Nobody has looked at this one. The policy of whoever publishes asks for a reviewer, who is not asked here.
    let (fresh, _, head) = town.pull(&[("total.py", Some(code))]).await;
    let made = town.run_on(&reviewer, &["review", &town.address(fresh), "--no-publish", "--format", "json"]).ended(1);
    let mut emptied = made.json();
    emptied["findings"] = serde_json::json!([]);
    emptied["outcome"] = "clean".into();
    std::fs::write(&file, emptied.to_string()).unwrap();
    with_a_reviewer(&publisher, r#"{"findings":[]}"#);
    let said = town.run_on(&publisher, &["publish", &name, &town.address(fresh)]).ended(3);
    assert_eq!(town.status(&head).await, Some(CheckState::Error), "{said:?}");
    let sticky = town.stickies(fresh).await.remove(0).body;
    assert!(sticky.contains("nobody has verified"), "{sticky}");
}

/// PR-96: a dry run prints what would be sent, and sends nothing.
pub async fn a_dry_run_posts_nothing(town: &Town) {
    let (number, _, head) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    let said = town.run(&["review", &town.address(number), "--dry-run"]).ended(1);
    for word in ["\"claim\"", "\"review\"", "\"edit-sticky\"", "tribunal/review", "yaml.load(text)"] {
        assert!(said.stdout.contains(word), "{word} in {}", said.stdout);
    }
    assert!(town.stickies(number).await.is_empty() && town.threads(number).await.is_empty());
    assert_eq!(town.status(&head).await, None);
}

/// Issue 5, build 2: on request the token comes from the forge's own tool, each asked as it wants to be asked. One without a login is
/// named.
pub async fn the_tools_token(town: &Town) {
    let (number, _, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    let machine = Machine::new();
    let tools = machine.folder().join("tools");
    std::fs::create_dir_all(&tools).unwrap();
    let (host, token) = (town.origin.split_once("://").unwrap().1, &town.tokens[0].1);
    assert_eq!(town.tokens[0].0, Who::Bot);
    let scripts = [
        ("gh", format!("[ \"$*\" = \"auth token --hostname {host}\" ] || exit 1\necho '{token}'")),
        ("glab", format!("[ \"$*\" = \"config get token --host {host}\" ] || exit 1\necho '{token}'")),
        (
            "tea",
            format!(
                "[ \"$*\" = \"login helper get\" ] || exit 1\nread protocol; read host\n\
                 [ \"$protocol $host\" = \"protocol=http host={host}\" ] || exit 1\n\
                 printf 'protocol=http\\nhost={host}\\nusername=bot\\npassword={token}\\n'"
            ),
        ),
    ];
    for (name, script) in scripts {
        let file = tools.join(name);
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let run = || {
        let mut command = town.command(&machine, Who::Bot, &["review", &town.address(number)]);
        Said::of(
            command.env_remove("TRIBUNAL_TOKEN").env("TRIBUNAL__FORGE__USE_CLI", "true").env("PATH", &path).output().unwrap(),
        )
    };
    run().ended(1);
    assert_eq!(town.stickies(number).await.len(), 1);
    for name in ["gh", "glab", "tea"] {
        std::fs::write(tools.join(name), "#!/bin/sh\nexit 0\n").unwrap();
    }
    let said = run().ended(5);
    assert!(said.stderr.contains("no token for"), "{}", said.stderr);
}

/// Issue 5, bad input: a closed pull request, one that is not there, somebody else's summary, a second one, a deleted one.
pub async fn odd_pull_requests(town: &Town) {
    town.run(&["review", &town.address(999_999)]).ended(5);
    let (closed, _, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    town.stage.forge_as(Who::Maintainer).close(closed).await.unwrap();
    let said = town.run(&["review", &town.address(closed)]).ended(2);
    assert!(said.stderr.contains("is closed"), "{}", said.stderr);

    let (number, branch, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    town.review(number);
    let body = town.stickies(number).await[0].body.clone();
    if town.stage.has_accounts() {
        // PR-140: the same text by somebody else, on a pull request that was never reviewed.
        let (fresh, _, head) = town.pull(&[("app.py", Some(UNSAFE))]).await;
        town.stage.forge_as(Who::Stranger).comment(fresh, &body).await.unwrap();
        town.review(fresh);
        assert_eq!(town.status(&head).await, Some(CheckState::Failure));
        assert_eq!(town.stickies(fresh).await.len(), 2, "theirs is left alone, ours stands beside it");
    }
    // PR-136: two of ours become one.
    let bot = town.stage.forge_as(Who::Bot);
    bot.comment(number, &body).await.unwrap();
    town.stage.push(&branch, &[("more.md", Some("text\n"))], "more").await;
    town.review(number);
    assert_eq!(town.stickies(number).await.len(), 1);
    // A deleted one is written anew, and the threads are not repeated.
    let sticky = town.stickies(number).await.remove(0);
    bot.delete_comment(number, &sticky.id).await.unwrap();
    town.review(number);
    assert_eq!(town.stickies(number).await.len(), 1);
    assert_eq!(town.threads(number).await.len(), 1);
}

/// forges.md 8, quirk 20: the fork is gone. Where the forge keeps the pull request open, it is reviewed like any other.
pub async fn a_lost_fork(town: &Town) {
    let Some(number) = town.stage.open_pull_from_fork(Who::Stranger, true).await else { return };
    let pull = town.stage.forge_as(Who::Bot).pull(number).await.unwrap();
    let said = town.run(&["review", &town.address(number), "--format", "json"]);
    if pull.state == PullState::Open {
        assert!(said.code == 0 || said.code == 1, "{said:?}");
        assert_eq!(town.stickies(number).await.len(), 1);
    } else {
        assert!(said.ended(2).stderr.contains("is closed"));
        assert!(town.stickies(number).await.is_empty());
    }
}

/// Issue 5, build 9: a stranger's change is given to no agent, neither as a reviewer nor as one who stands in, until somebody with
/// write access says so for this very head; the author's own word does nothing.
pub async fn a_strangers_fork(town: &Town) {
    let Some(number) = town.stage.open_pull_from_fork(Who::Stranger, false).await else { return };
    let folder = town.machine.folder();
    let asked = folder.join("reviewer.sh");
    std::fs::write(&asked, "#!/bin/sh\ncat > /dev/null\necho '{\"findings\": []}'\n").unwrap();
    std::fs::set_permissions(&asked, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let config = format!(
        "[agents.one]\nkind = \"command\"\ncommand = [\"{0}\"]\n[agents.two]\nkind = \"command\"\ncommand = [\"{0}\"]\n\
         [panel]\nsecurity-reviewer = [{{ agent = \"one\", fallback = [\"two\"] }}]\n",
        asked.display()
    );
    std::fs::create_dir_all(folder.join(".config/tribunal")).unwrap();
    std::fs::write(folder.join(".config/tribunal/config.toml"), config).unwrap();
    let seats = |document: &serde_json::Value| -> Vec<String> {
        let seats = document["receipt"]["seats"].as_array().unwrap().iter();
        let state = |seat: &serde_json::Value| match seat["state"].as_object() {
            Some(state) => state.keys().next().unwrap().clone(),
            None => seat["state"].as_str().unwrap().to_owned(),
        };
        let of_role = seats.filter(|seat| seat["role"] == "security-reviewer");
        of_role.map(|seat| format!("{} {}", seat["agent"].as_str().unwrap(), state(seat))).collect()
    };
    let review = || town.run(&["review", &town.address(number), "--format", "json"]);
    let head = town.stage.forge_as(Who::Bot).pull(number).await.unwrap().head.sha;

    let document = review().ended(3).json();
    assert_eq!(seats(&document), ["one withheld", "rules ok"], "{document:#}");
    assert_ne!(town.status(&head).await, Some(CheckState::Success), "half a review is not green");
    let word = format!("/tribunal allow {head}");
    town.stage.forge_as(Who::Stranger).comment(number, &word).await.unwrap();
    assert_eq!(seats(&review().ended(3).json()), ["one withheld", "rules ok"]);
    // Issue 16, A4: a commit is allowed by all of its digits.
    let short = format!("/tribunal allow {}", head.short());
    town.stage.forge_as(Who::Maintainer).comment(number, &short).await.unwrap();
    assert_eq!(seats(&review().ended(3).json()), ["one withheld", "rules ok"]);
    let maintainer = town.stage.forge_as(Who::Maintainer);
    // Whoever may write can put words into a maintainer's comment. On GitLab only maintainers can.
    if town.stage.kind() != ForgeKind::GitLab {
        let thanks = maintainer.comment(number, "Thank you.").await.unwrap().id;
        let edits = std::cell::Cell::new(0);
        // Forges tell of it by the second.
        super::loops::until("an edited comment", || async {
            edits.set(edits.get() + 1);
            maintainer.edit_comment(number, &thanks, &format!("{word}\n\nThank you {} times.", edits.get())).await.unwrap();
            town.comments(number).await.into_iter().find(|comment| comment.id == thanks && comment.edited)
        })
        .await;
        let document = review().ended(3).json();
        assert_eq!(seats(&document), ["one withheld", "rules ok"]);
        assert!(document.to_string().contains("say it in a new comment"), "{document:#}");
    }
    maintainer.comment(number, &word).await.unwrap();
    assert_eq!(seats(&review().ended(0).json()), ["one ok"]);
    // GitLab keeps no status for a commit that is in no branch of the project.
    assert!(matches!(town.status(&head).await, Some(CheckState::Success) | None));
}

/// CF-33: a draft that a person is writing under our account is neither sent along nor thrown away.
pub async fn somebodys_draft(town: &Town) {
    let (number, _, _) = town.pull(&[("app.py", Some(UNSAFE))]).await;
    if !town.stage.leave_pending(number, "app.py", 5, "hm, is that so?").await {
        return;
    }
    let said = town.run(&["review", &town.address(number)]).ended(5);
    assert!(said.stderr.contains("foreign-draft"), "{}", said.stderr);
    assert!(town.stickies(number).await.is_empty() && town.threads(number).await.is_empty());
    let bot = town.stage.forge_as(Who::Bot);
    let drafts: Vec<String> = bot
        .reviews(number)
        .await
        .unwrap()
        .into_iter()
        .filter(|review| review.state == ReviewState::Pending)
        .map(|review| review.id)
        .collect();
    assert!(!drafts.is_empty(), "the draft is still there");
    for draft in drafts {
        bot.delete_pending(number, &draft).await.unwrap();
    }
    town.review(number);
    assert_eq!(town.threads(number).await.len(), 1);
}

/// `tribunal doctor` in a checkout: which forge, whom the token speaks for, what is done in another way; and a wrong token.
pub async fn the_doctor_looks(town: &Town) {
    let checkout = town.machine.folder().join("checkout");
    let remote = format!("{}/{}.git", town.origin, town.path);
    let init = [vec!["init", "-q", "checkout"], vec!["-C", "checkout", "remote", "add", "origin", &remote]];
    for words in init {
        let mut git = std::process::Command::new("git");
        assert!(git.args(&words).current_dir(town.machine.folder()).status().unwrap().success());
    }
    // The fakes of one forge do not know the questions that tell it from others.
    let kind = town.stage.kind().name().to_lowercase();
    let doctor = || {
        let mut command = town.command(&town.machine, Who::Bot, &["doctor"]);
        command.env("TRIBUNAL__FORGE__KIND", &kind).current_dir(&checkout);
        command
    };
    let bot = town.stage.forge_as(Who::Bot);
    let (able, me) = (bot.capabilities().await.unwrap(), bot.identity().await.unwrap());
    let said = Said::of(doctor().output().unwrap());
    assert!(said.stdout.contains(&format!("✓ forge: {}", able.kind.name())), "{}", said.stdout);
    assert!(said.stdout.contains(&format!("✓ the token in TRIBUNAL_TOKEN speaks for {}", me.login)), "{}", said.stdout);
    for capability in Capability::ALL.into_iter().filter(|capability| *capability != Capability::ConditionalRequests) {
        let line = format!("- no {} there: {}", capability.words(), capability.fall_back());
        assert_eq!(said.stdout.contains(&line), !able.can(capability), "{capability:?} in {}", said.stdout);
    }
    let said = Said::of(doctor().env("TRIBUNAL_TOKEN", "0123456789").output().unwrap()).ended(2);
    assert!(said.stdout.contains("✗ the token in TRIBUNAL_TOKEN: "), "{}", said.stdout);
    assert!(!said.stdout.contains("0123456789"), "the token was shown: {}", said.stdout);
}
