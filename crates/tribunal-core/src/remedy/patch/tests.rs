use super::*;
use crate::diff::parse::parse_diff;

/// One hunk in one file; lines with their `+`, `-` or blank.
fn patch(path: &str, lines: &[&str]) -> Change {
    parse_diff(diff(path, lines).as_bytes()).unwrap()
}

fn diff(path: &str, lines: &[&str]) -> String {
    let count = |sign: char| lines.iter().filter(|line| !line.starts_with(sign)).count();
    let (old, new) = (count('+'), count('-'));
    format!("diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{old} +1,{new} @@\n{}\n", lines.join("\n"))
}

fn deleted(path: &str, lines: &[&str]) -> Change {
    let body: String = lines.iter().map(|line| format!("-{line}\n")).collect();
    let text = format!(
        "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -1,{} +0,0 @@\n{body}",
        lines.len()
    );
    parse_diff(text.as_bytes()).unwrap()
}

fn verdict(path: &str, lines: &[&str]) -> Result<(), Refusal> {
    check(&patch(path, lines), &FixPolicy::default(), Some(&path.into()))
}

fn category(path: &str, lines: &[&str]) -> Option<u8> {
    match verdict(path, lines) {
        Err(Refusal::Destructive { category, .. }) => Some(category),
        Ok(()) | Err(_) => None,
    }
}

/// WL-19, WL-61: what a good small fix looks like passes.
#[test]
fn safe_fixes_pass() {
    let cases: [(&str, &[&str]); 18] = [
        ("src/a.py", &["-cfg = yaml.load(text)", "+cfg = yaml.safe_load(text)"]),
        ("src/a.py", &["-r = requests.get(url, verify=False)", "+r = requests.get(url)"]),
        ("src/a.py", &["-r = requests.get(url, verify=False)", "+r = requests.get(url, timeout=10)"]),
        (
            "src/a.py",
            &[" try:", "     run()", "-except Exception: pass", "+except Exception:", "+    log.exception(\"run failed\")"],
        ),
        ("src/a.py", &["-subprocess.run(cmd, shell=True)", "+subprocess.run(shlex.split(cmd))"]),
        ("src/a.py", &["-digest = hashlib.md5(data)", "+digest = hashlib.sha256(data)"]),
        ("src/a.py", &["-assert amount > 0", "+if amount <= 0:", "+    raise ValueError(amount)"]),
        (
            "src/a.py",
            &["-db.execute(f\"select * from t where id = {id}\")", "+db.execute(\"select * from t where id = ?\", (id,))"],
        ),
        ("src/a.py", &["-password = \"hunter2hunter2\"", "+password = os.environ[\"DB_PASSWORD\"]"]),
        ("src/a.py", &["-def f(x=[]):", "+def f(x=None):", " pass"]),
        ("src/a.rs", &["-let n = parse(text).unwrap();", "+let n = parse(text)?;"]),
        ("src/a.rs", &["-    let rest = items.iter().skip(1);", "+    let rest = items.iter().skip(2);"]),
        ("src/a.ts", &["-el.innerHTML = name;", "+el.textContent = name;"]),
        ("src/a.ts", &["-if (a == b) {", "+if (a === b) {", " }"]),
        ("src/a.go", &["-tls.Config{InsecureSkipVerify: true}", "+tls.Config{}"]),
        ("tests/test_a.py", &["+def test_more():", "+    assert f(1) == 2"]),
        ("tests/test_a.py", &["-    assert f(1) == 3", "+    assert f(1) == 2"]),
        ("README.md", &["-We verify nothing and skip permission checks.", "+We check."]),
    ];
    for (path, lines) in cases {
        let policy = FixPolicy { contract_changes: lines[0].contains("def f"), ..FixPolicy::default() };
        assert_eq!(check(&patch(path, lines), &policy, Some(&path.into())), Ok(()), "{lines:?}");
    }
}

/// WL-87, category by category.
#[test]
fn destructive_fixes_need_a_person() {
    let cases: [(u8, &str, &[&str]); 49] = [
        (1, "src/a.py", &["-@login_required", " def view(request):"]),
        (1, "src/a.py", &["-if not user.has_permission(\"x\"): raise Denied()", " go()"]),
        (1, "src/a.py", &["-r = get(url)", "+r = get(url, verify=False)"]),
        (1, "src/a.go", &["-c := tls.Config{}", "+c := tls.Config{InsecureSkipVerify: true}"]),
        (1, "src/a.js", &["-https.get(u)", "+https.get(u, { rejectUnauthorized: false })"]),
        (1, "src/a.py", &["+@csrf_exempt", " def view(request):"]),
        (1, "src/a.py", &["-if not authorized(user):", "+# if not authorized(user):", "-    return 403", "+    # return 403"]),
        // Neither a comment nor a message is a counterpart.
        (1, "src/a.py", &["-authorize(user)", "+pass  # authorize(user)", " go()"]),
        (1, "src/a.py", &["-authorize(user)", "+log.info(\"authorize left out\")", " go()"]),
        (3, "pyproject.toml", &[" [tool.ruff]", "+ignore = [\"S\"]"]),
        (7, "pyproject.toml", &[" dependencies = [", "+  \"evil>=1\",", " ]"]),
        (3, "tests/test_a.py", &["-    assert f(1) == 2", "     g()"]),
        (3, "tests/test_a.py", &["-def test_f():", "-    f()", " x = 1"]),
        (3, "tests/test_a.py", &["+@pytest.mark.skip", " def test_f():"]),
        (3, "tests/test_a.py", &["-    assert f(1) == 2", "+    assert True"]),
        (3, "src/a.rs", &["+#[ignore]", " #[test]"]),
        (3, "src/a.rs", &["+#[allow(clippy::all)]", " fn a() {}"]),
        (3, "src/a.test.ts", &["-it('works', () => {", "+it.skip('works', () => {", " });"]),
        (3, "src/a.ts", &["+// eslint-disable-next-line", " x()"]),
        (3, "src/a.ts", &["+// @ts-ignore", " x()"]),
        (3, "src/a.py", &["-import os", "+import os  # noqa"]),
        (3, "src/a.py", &["-run(cmd)", "+run(cmd)  # nosec"]),
        (3, "run.sh", &["-git commit -m x", "+git commit -m x --no-verify"]),
        (3, "run.sh", &["-make test", "+make test || true"]),
        (3, "src/a.py", &["-if ready:", "+if True:", " go()"]),
        (3, "src/a.py", &["-validate(form)", " save(form)"]),
        (3, ".eslintrc.json", &["-\"no-eval\": 2", "+\"no-eval\": 0"]),
        (4, "src/a.py", &["-out = html.escape(name)", "+out = name"]),
        (4, "src/a.tsx", &["-<p>{text}</p>", "+<p dangerouslySetInnerHTML={{__html: text}} />"]),
        (4, "src/a.py", &["-cfg = yaml.safe_load(text)", "+cfg = yaml.load(text)"]),
        (4, "src/a.py", &["-run([tool, name])", "+run(f\"{tool} {name}\", shell=True)"]),
        (5, "src/a.py", &["-os.chmod(p, 0o600)", "+os.chmod(p, 0o777)"]),
        (5, "src/a.js", &["+res.setHeader('Access-Control-Allow-Origin', '*')", " next()"]),
        (5, "deploy/pod.yaml", &["-  privileged: false", "+  privileged: true"]),
        (5, "src/a.py", &["-allow_origins=[\"https://a.example\"]", "+allow_origins=[\"*\"]"]),
        (6, "src/a.py", &["-d = make(data)", "+d = hashlib.md5(data)"]),
        (6, "src/a.py", &["-AES.new(k, AES.MODE_GCM)", "+AES.new(k, AES.MODE_ECB)"]),
        (6, "src/a.py", &["-rsa.generate(key_size=4096)", "+rsa.generate(key_size=1024)"]),
        (6, "src/a.py", &["-if hmac.compare_digest(a, b):", "+if a == b:", " go()"]),
        (7, "Cargo.toml", &[" [dependencies]", "+left-pad = \"1\""]),
        (7, "package.json", &["-  \"a\": \"^1.0.0\"", "+  \"a\": \"^1.0.0\",", "+  \"evil\": \"^0.0.1\""]),
        (7, "requirements.txt", &[" flask==3.0", "+evil==0.1"]),
        (7, "go.mod", &["+require example.org/x v1.2.3", " go 1.22"]),
        (8, ".github/workflows/ci.yml", &["-on: push", "+on: pull_request"]),
        (8, ".gitlab-ci.yml", &["-a: b", "+a: c"]),
        (9, ".env", &["-A=1", "+A=2"]),
        (9, "config/secrets.yml", &["-a: b", "+a: c"]),
        (10, "src/a.py", &["-k = key()", "+k = \"AKIAIOSFODNN7EXAMPLE\""]),
        (10, "src/a.py", &["+log.info(password)", " go()"]),
    ];
    for (wanted, path, lines) in cases {
        assert_eq!(category(path, lines), Some(wanted), "{path} {lines:?}: {:?}", verdict(path, lines));
    }
}

/// WL-87: taking a weakness away, moving or indenting a line, or bumping a version is none of it.
#[test]
fn what_only_looks_destructive_passes() {
    let cases: [(&str, &[&str]); 9] = [
        ("src/a.py", &["-check_access(user)", " log(user)", "+check_access(user)"]),
        ("src/a.py", &["-authenticate(user)", "+if user:", "+    authenticate(user)"]),
        ("src/a.py", &["-# verify the token here", " go()", "+x = 1"]),
        ("src/a.py", &["-@csrf_exempt", " def view(request):"]),
        ("src/a.py", &["-x = f(a)  # noqa", "+x = f(b)  # noqa"]),
        ("src/a.py", &["-os.chmod(p, 0o777)", "+os.chmod(p, 0o600)"]),
        ("requirements.txt", &["-flask==3.0", "+flask==3.1"]),
        ("src/a.ts", &["-const ok = a || true;", "+const ok = a;"]),
        ("src/secrets.py", &["-x = 1", "+x = 2"]),
    ];
    for (path, lines) in cases {
        assert_eq!(verdict(path, lines), Ok(()), "{lines:?}");
    }
}

/// WL-87, 2 and 3.
#[test]
fn deleting_guards_and_tests_is_destructive() {
    for (path, wanted) in [("src/auth/guard.py", Some(2)), ("tests/test_a.py", Some(3)), ("src/author.py", None)] {
        let found = match check(&deleted(path, &["x = 1"]), &FixPolicy::default(), Some(&path.into())) {
            Err(Refusal::Destructive { category, .. }) => Some(category),
            Ok(()) | Err(_) => None,
        };
        assert_eq!(found, wanted, "{path}");
    }
}

#[test]
fn some_files_are_never_touched() {
    for path in [
        "AGENTS.md",
        "sub/CLAUDE.md",
        "GEMINI.md",
        ".cursor/rules/a.mdc",
        ".cursorrules",
        ".github/copilot-instructions.md",
        ".claude/settings.json",
        ".tribunal.toml",
        ".tribunal/rules/a.yml",
        ".github/tribunal.toml",
        ".gitattributes",
        "Cargo.lock",
        "web/package-lock.json",
    ] {
        assert!(matches!(verdict(path, &["-a", "+b"]), Err(Refusal::Forbidden { .. })), "{path}");
    }
    let link = "diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n";
    let link = parse_diff(link.as_bytes()).unwrap();
    assert!(matches!(check(&link, &FixPolicy::default(), None), Err(Refusal::Forbidden { .. })));
    for path in ["/etc/passwd", "../x", "a//b"] {
        assert!(paths::forbidden(&path.into()).is_some(), "{path}");
    }
}

/// CF-19.
#[test]
fn size_place_and_emptiness() {
    let item = RepoPath::from("src/a.py");
    let policy = FixPolicy::default();
    assert_eq!(check(&Change::default(), &policy, Some(&item)), Err(Refusal::Empty));
    let three: String = ["src/a.py", "src/b.py", "src/c.py"].iter().map(|path| diff(path, &["-a", "+b"])).collect();
    let three = parse_diff(three.as_bytes()).unwrap();
    assert_eq!(check(&three, &policy, Some(&item)), Err(Refusal::TooLarge { files: 3, lines: 6 }));
    assert_eq!(check(&three, &FixPolicy { max_files: 20, ..policy.clone() }, Some(&item)), Ok(()));
    let long: Vec<String> = (0..201).map(|n| format!("+x{n} = {n}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert_eq!(verdict("src/a.py", &long), Err(Refusal::TooLarge { files: 1, lines: 201 }));
    let other = patch("src/b.py", &["-a", "+b"]);
    assert_eq!(check(&other, &policy, Some(&item)), Err(Refusal::Outside { path: "src/b.py".into() }));
    assert_eq!(check(&other, &policy, None), Ok(()));
    let named = FixPolicy { allow: vec!["lib/**".into(), "[".into(), "AGENTS.md".into()], ..policy };
    assert_eq!(check(&other, &named, Some(&item)), Err(Refusal::Outside { path: "src/b.py".into() }));
    assert_eq!(check(&patch("lib/x/b.py", &["-a", "+b"]), &named, Some(&item)), Ok(()));
    let instructions = patch("AGENTS.md", &["-a", "+b"]);
    assert!(matches!(check(&instructions, &FixPolicy::default(), Some(&item)), Err(Refusal::Forbidden { .. })));
    assert_eq!(check(&instructions, &named, Some(&item)), Ok(()));
}

/// CF-19, WL-61: what others call stays as it is.
#[test]
fn public_signatures_are_a_contract() {
    let cases: [(&str, &[&str]); 9] = [
        ("src/a.rs", &["-pub fn total(a: u32) -> u32 {", "+pub fn total(a: u64) -> u64 {", " }"]),
        ("src/a.rs", &["-pub fn total(a: u32) -> u32 {", "+fn total(a: u32) -> u32 {", " }"]),
        ("src/a.ts", &["-export function total(a: number) {", "+export function total(a: number, b: number) {", " }"]),
        ("src/a.py", &["-def total(a):", "+def total(a, b):", "     pass"]),
        ("src/a.go", &["-func Total(a int) int {", "+func Total(a int64) int64 {", " }"]),
        ("src/A.java", &["-public int total(int a) {", "+public long total(long a) {", " }"]),
        ("api/openapi.yaml", &["-a: b", "+a: c"]),
        ("proto/x.proto", &["-a", "+b"]),
        ("db/migrations/001_a.sql", &["-a", "+b"]),
    ];
    for (path, lines) in cases {
        assert!(matches!(verdict(path, lines), Err(Refusal::ContractChange { .. })), "{lines:?}: {:?}", verdict(path, lines));
        let free = FixPolicy { contract_changes: true, ..FixPolicy::default() };
        assert_eq!(check(&patch(path, lines), &free, Some(&path.into())), Ok(()), "{lines:?}");
    }
    let kept: [(&str, &[&str]); 6] = [
        ("src/a.rs", &["-pub(crate) fn total(a: u32) {", "+pub(crate) fn total(a: u64) {", " }"]),
        ("src/a.rs", &["+pub fn more() {", "+}", " "]),
        ("src/a.py", &["-def _total(a):", "+def _total(a, b):", "     pass"]),
        ("src/a.py", &["-def total(a):", "+def total(a) -> int:", "     pass"]),
        ("src/a.go", &["-func total(a int) int {", "+func total(a int64) int64 {", " }"]),
        ("src/a.ts", &["-export const LIMIT = 1;", "+export const LIMIT = 2;"]),
    ];
    for (path, lines) in kept {
        assert_eq!(verdict(path, lines), Ok(()), "{lines:?}");
    }
}

/// RL-39, PR-116, TS-74: a commit says in one short line what it does, and for which item and run it was made.
#[test]
fn a_commit_says_what_and_for_which_item() {
    let item = crate::feedback::samples::fixable(&crate::remedy::answer::tests::item(crate::feedback::item::Voice::Bot, None));
    assert_eq!(subject("Use a set.\nAnd more", &item), "Use a set. And more");
    assert_eq!(subject(" ", &item), "Address feedback on src/a.py:4");
    assert_eq!(subject(&"x".repeat(200), &item).chars().count(), 72);
    let by = |answers_person| message("Use a set", [&item.id], &"run".into(), &By { fixer: &"claude".into(), answers_person });
    assert_eq!(by(false), "Use a set\n\nTribunal-Item: thread:1\nTribunal-Run: run\nTribunal-Fixer: claude\n");
    assert_eq!(by(true), format!("{}Tribunal-Asked-By: person\n", by(false)));
}
