//! What must not make a flow disappear: comments, texts, default values, code that does not run.

use super::{claims, is_found, rules_for};
use crate::rules::examples::added;
use crate::rules::scan::scan;
use tribunal_core::findings::scale::Severity;

fn severities(path: &str, code: &str) -> Vec<Option<Severity>> {
    let found = scan(rules_for(path), &added(path, code), |_| true).unwrap().claims;
    found.into_iter().map(|claim| claim.severity).collect()
}

const BLOCKER: [Option<Severity>; 1] = [Some(Severity::Blocker)];
const QUESTION: [Option<Severity>; 1] = [Some(Severity::Question)];

#[test]
fn a_comment_or_a_text_is_no_exemption() {
    for head in [
        "def f():  # like RoundTrip()",
        "def f(a=\"RoundTrip(\"):",
        "def RoundTrip():",
        "def f():  # not @admin_required",
        "def f(a=\"@admin_required\"):",
        "def f(a='Depends(admin)'):  # Depends(admin)",
        "@get('/@admin_required')\ndef f():",
        "@get('/x')  # @admin_required\ndef f():",
        "@get(\"permission_classes([IsAdmin\")\ndef f():",
        "@permission_classes([IsAny])  # IsAdmin\ndef f():",
        "@permission_classes([IsAny,  # IsAdmin\n])\ndef f():",
        "class A:  # RoundTrip( @admin_required\n  def f():",
    ] {
        let code = format!("{head}\n     sink(outside())\n");
        assert_eq!(severities("src/a.py", &code), BLOCKER, "{head}");
    }
    let java = |before: &str| format!("class A {{\n  {before}\n  void f() {{\n    sink(outside());\n  }}\n}}\n");
    for before in [
        "// @RolesAllowed(\"ADMIN\")",
        "@Name(\"@RolesAllowed(ADMIN)\")",
        "@RolesAllowed(/* ADMIN */ \"USER\")",
        "/* RoundTrip( */",
    ] {
        assert_eq!(severities("src/A.java", &java(before)), BLOCKER, "{before}");
    }
    for before in ["@RolesAllowed(\"ADMIN\")", "@Transactional @PreAuthorize(\"hasRole('ADMIN')\")"] {
        assert_eq!(severities("src/A.java", &java(before)), QUESTION, "{before}");
    }
    let csharp = |before: &str| format!("class A {{\n  {before}\n  void F() {{\n    sink(outside());\n  }}\n}}\n");
    assert_eq!(severities("src/A.cs", &csharp("[Authorize(Roles = \"Admin\")]")), QUESTION);
    assert_eq!(severities("src/A.cs", &csharp("// [Authorize(Roles = \"Admin\")]")), BLOCKER);
    let kotlin = |before: &str| format!("class A {{\n  {before}\n  fun f() {{\n    sink(outside())\n  }}\n}}\n");
    assert_eq!(severities("src/A.kt", &kotlin("@RolesAllowed(\"ADMIN\")")), QUESTION);
    assert_eq!(severities("src/A.kt", &kotlin("/* @RolesAllowed(\"ADMIN\") */")), BLOCKER);
}

#[test]
fn an_administrator_of_a_class_is_asked_about() {
    assert_eq!(severities("src/a.py", "@admin_required\nclass A:\n    def f(self):\n        sink(outside())\n"), QUESTION);
    assert_eq!(severities("src/a.py", "@permission_classes([IsAdminUser])\ndef f():\n    sink(outside())\n"), QUESTION);
    assert_eq!(severities("src/a.py", "def f(user: Annotated[User, Depends(get_admin)]):\n    sink(outside())\n"), QUESTION);
    let code = "@RolesAllowed(\"ADMIN\")\nclass A {\n  void f() {\n    sink(outside());\n  }\n}\n";
    assert_eq!(severities("src/A.java", code), QUESTION);
}

/// A transport of Go sends what its own program asks for. Nobody else is one, and even it is asked about.
#[test]
fn only_a_method_of_go_is_a_transport() {
    let method = |head: &str| severities("a/a.go", &format!("package a\n\n{head} {{\n\tsink(outside())\n}}\n"));
    assert_eq!(method("func (t T) RoundTrip(r *http.Request) (*http.Response, error)"), QUESTION);
    assert_eq!(method("func View(w http.ResponseWriter, r *http.Request) /* RoundTrip( */"), BLOCKER);
    assert_eq!(method("func (t T) View(RoundTrip func(a RoundTrip)) /* RoundTrip( */"), BLOCKER);
    assert_eq!(method("func (t T) RoundTrip(w http.ResponseWriter, r *http.Request)"), BLOCKER);
    assert_eq!(method("func RoundTrip(r *http.Request)"), BLOCKER);
}

#[test]
fn a_comment_inside_an_expression_changes_nothing() {
    for code in [
        "sink(('a'  # x\n + outside()))\n",
        "sink('a' \\\n + outside())\n",
        "x = outside()\nsink(\n  # x\n  x)\n",
        "x = outside()\nsink((x  # x\n))\n",
        "o.name = outside()\nsink(o.  # x\n  name) if y else 0\n",
        "fetch(('' # x\n + outside()))\n",
    ] {
        assert!(is_found(code), "{code}");
    }
    assert_eq!(severities("src/a.js", "sink('a' /* < */ + outside());\n"), BLOCKER);
    assert_eq!(severities("src/a.js", "let x /* = 1 */ = outside(); sink(x /* , 1 */);\n"), BLOCKER);
    assert_eq!(severities("src/A.kt", "fun f() {\n  val x = outside()\n  sink(/* a */ x)\n}\n"), BLOCKER);
    assert_eq!(
        severities("src/A.java", "class A {\n  void f(/* int */ String raw_a /* int */) {\n    sink(raw_a);\n  }\n}\n"),
        BLOCKER
    );
}

#[test]
fn a_default_value_is_no_type() {
    assert!(is_found("def f(raw_a=lambda x:int):\n    sink(raw_a)\n"));
    assert!(is_found("def f(raw_a: str = {1:int}):\n    sink(raw_a)\n"));
    assert!(!is_found("def f(raw_a: int = 3):\n    sink(raw_a)\n"));
    let found = claims(&added("src/a.py", "def f(raw_a: str  # :int\n):\n    sink(raw_a)\n"));
    assert_eq!(found.len(), 1);
}

/// Its declaration stands behind a `return`, and it is called all the same.
#[test]
fn a_function_behind_a_return_is_looked_at() {
    let code = "function v() {\n  return run();\n  function run() { sink(outside()); }\n}\n";
    assert_eq!(severities("src/a.js", code), BLOCKER);
    assert_eq!(severities("src/a.php", "<?php\nreturn v();\nfunction v() { sink(outside()); }\n"), BLOCKER);
}

#[test]
fn a_function_of_the_file_that_is_called_like_an_exit_is_none() {
    assert!(is_found("def exit():\n    pass\ndef f():\n    exit()\n    sink(outside())\n"));
    assert!(!is_found("def f():\n    exit()\n    sink(outside())\n"));
}
