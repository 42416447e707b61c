use crate::rules::compile::RuleSet;
use crate::rules::examples::added;
use crate::rules::load;
use crate::rules::scan::scan;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tribunal_core::diff::change::{Change, Origin};
use tribunal_core::diff::language::Language;
use tribunal_core::findings::report::Claim;
use tribunal_core::findings::scale::Severity;

/// A rule of a repository: its own source, sink and sanitizer.
const RULE: &str = r#"
id: own-flow
languages: [python]
category: S1
severity: blocker
confidence: high
blast: local
justification: asymmetric
title: t
failure_mode: f
mitigation: m
about: a
flow:
  sources: [outside(), { pattern: 'setting()', severity: suggestion }, { parameter: '^raw_' }]
  sinks:
    - sink($ARG)
    - { pattern: query($ARG), built: '(?i)select' }
    - { pattern: fetch($ARG), leading: true }
    - { rule: { pattern: 'danger[$VALUE]' }, focus: VALUE }
    - '*.markup = $ARG'
  sanitizers: [quote(), $ARG.isdigit()]
examples:
  bad: [sink(outside())]
  good: [sink(1)]
"#;

fn claims(change: &Change) -> Vec<Claim> {
    static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::new(vec![load::parse("own-flow.yml", RULE).unwrap()]).unwrap());
    scan(&RULES, change, |_| true).unwrap().claims
}

/// A count that no file written by a person comes near.
const LARGE: usize = 40_000;

/// The own rule in the language of a path.
fn rules_for(path: &str) -> &'static RuleSet {
    const LANGUAGES: [(&str, Language); 8] = [
        ("python", Language::Python),
        ("javascript", Language::JavaScript),
        ("go", Language::Go),
        ("java", Language::Java),
        ("kotlin", Language::Kotlin),
        ("csharp", Language::CSharp),
        ("php", Language::Php),
        ("ruby", Language::Ruby),
    ];
    static RULES: LazyLock<BTreeMap<&str, RuleSet>> = LazyLock::new(|| {
        let of_language = |(name, _): (&'static str, Language)| {
            let text = RULE.replace("[python]", &format!("[{name}]"));
            let text = text.replace("    - { rule: { pattern: 'danger[$VALUE]' }, focus: VALUE }\n", "");
            let text = text.replace("'^raw_'", "'raw_'");
            (name, RuleSet::new(vec![load::parse("own-flow.yml", &text).unwrap()]).unwrap())
        };
        LANGUAGES.into_iter().map(of_language).collect()
    });
    let language = Language::of(&path.into()).unwrap();
    let (name, _) = LANGUAGES.into_iter().find(|(_, known)| *known == language).unwrap();
    &RULES[name]
}

/// The lines of the findings in a file that is new.
fn lines(code: &str) -> Vec<u32> {
    claims(&added("src/a.py", code)).iter().filter_map(|claim| claim.line_start).collect()
}

fn is_found(code: &str) -> bool {
    !lines(code).is_empty()
}

/// The file with only some of its lines added.
fn touched(code: &str, numbers: &[u32]) -> Change {
    let mut change = added("src/a.py", code);
    for line in &mut change.files[0].hunks[0].lines {
        if !line.new_line.is_some_and(|number| numbers.contains(&number)) {
            line.origin = Origin::Context;
            line.old_line = line.new_line;
        }
    }
    change
}

#[test]
fn the_way_of_the_data_is_told() {
    let code = "def f():\n    name = outside()\n    text = 'a ' + name.strip()\n    sink(text)\n";
    let found = claims(&added("src/a.py", code));
    let told: Vec<String> = found[0].trace.iter().map(|step| format!("{} {}", step.line, step.note)).collect();
    assert_eq!(told, ["2 untrusted: `outside()`, assigned to `name`", "3 assigned to `text`", "4 reaches `sink`"]);
    assert_eq!((found.len(), found[0].line_start), (1, Some(4)));
}

#[test]
fn assignments_carry_data() {
    assert!(is_found("x = outside()\nsink(x)\n"));
    assert!(is_found("a, b = 1, outside()\nsink(b)\n"));
    assert!(!is_found("a, b = 1, outside()\nsink(a)\n"));
    assert!(is_found("s = 'a'\ns += outside()\nsink(s)\n"));
    assert!(is_found("d = {}\nd['k'] = outside()\nsink(d['j'])\n"));
    assert!(is_found("o.name = outside()\nsink(o.name)\n"));
    assert!(!is_found("o.name = outside()\nsink(o.other)\n"));
    assert!(is_found("parts = []\nparts.append(outside())\nsink(' '.join(parts))\n"));
    assert!(is_found("if (y := outside()):\n    sink(y)\n"));
    assert!(is_found("page.markup = outside()\n"));
    assert!(is_found("danger[outside()]\n"));
}

#[test]
fn texts_carry_data() {
    for text in ["f'a {x}'", "'a %s' % x", "'a {}'.format(x)", "'a' + x + 'b'", "'-'.join([x, 'b'])", "str(x).strip().lower()"] {
        assert!(is_found(&format!("x = outside()\nsink({text})\n")), "{text}");
    }
    for clean in ["len(x)", "int(x)", "x == 'a'", "unknown(x)", "quote(x)", "x.isdigit()", "'a' in x"] {
        assert!(!is_found(&format!("x = outside()\nsink({clean})\n")), "{clean}");
    }
}

#[test]
fn a_clean_value_replaces_data() {
    assert!(!is_found("x = outside()\nx = 'a'\nsink(x)\n"));
    assert!(is_found("x = outside()\nif y:\n    x = 'a'\nsink(x)\n"));
    assert!(!is_found("x = outside()\nif y:\n    x = 'a'\nelse:\n    x = 'b'\nsink(x)\n"));
    assert!(!is_found("x = outside()\nx = quote(x)\nsink(x)\n"));
}

#[test]
fn loops_end() {
    assert!(is_found("last = ''\nfor n in range(3):\n    sink(last)\n    last = outside()\n"));
    assert!(is_found("for item in outside():\n    sink(item)\n"));
    assert!(is_found("while y:\n    x = outside()\n    if z:\n        break\n    x = ''\nsink(x)\n"));
    assert!(is_found("names = [n.strip() for n in outside()]\nsink(names)\n"));
}

#[test]
fn a_check_that_leaves_makes_safe() {
    let body = |check: &str| format!("def f():\n    x = outside()\n    {check}\n    sink(x)\n");
    for check in [
        "if x not in ALLOWED: return",
        "if x not in ALLOWED:\n        raise E",
        "if not x.isdigit(): return",
        "if not re.fullmatch('[a-z]+', x): return",
        "if re.match('[a-z]+', x) is None: return",
        "if x != 'a': return",
        "if ';' in x: return",
        "if not x or x not in ALLOWED: return",
        "if not PATTERN.match(x.strip()): return",
        "int(x)",
        "assert x in ALLOWED",
        "if x not in ALLOWED: x = 'a'",
    ] {
        assert!(!is_found(&body(check)), "{check}");
    }
    for check in
        ["if not x: return", "if x is None: return", "if x == 'a': return", "if x in ALLOWED: y = 1", "if y: return", "log(x)"]
    {
        assert!(is_found(&body(check)), "{check}");
    }
    assert!(!is_found("x = outside()\nif x in ALLOWED:\n    sink(x)\n"));
    assert!(!is_found("x = outside()\nx in ALLOWED and sink(x)\n"));
    assert!(!is_found("x = outside()\nsink(x if x in ALLOWED else 'a')\n"));
    assert!(!is_found("def f():\n    try:\n        n = int(outside())\n    except ValueError:\n        return\n    sink(n)\n"));
    assert!(is_found("def f():\n    x = ''\n    try:\n        x = outside()\n    except E:\n        return\n    sink(x)\n"));
}

#[test]
fn helpers_of_the_file_are_followed_one_level() {
    assert!(is_found("def h(v):\n    return 'a ' + v\ndef f():\n    sink(h(outside()))\n"));
    assert!(is_found("def h(v):\n    sink(v)\ndef f():\n    h(outside())\n"));
    assert!(is_found("def h():\n    return outside()\ndef f():\n    sink(h())\n"));
    assert!(!is_found("def h(v):\n    return quote(v)\ndef f():\n    sink(h(outside()))\n"));
    assert!(!is_found("def h(v, w):\n    return w\ndef f():\n    sink(h(outside(), 1))\n"));
    assert!(is_found("def h(v, w):\n    return w\ndef f():\n    sink(h(1, w=outside()))\n"));
    assert!(is_found("class A:\n    def h(self, v):\n        sink(v)\n    def f(self):\n        self.h(outside())\n"));
    // Two levels are unknown, and a helper that calls itself ends.
    assert!(!is_found("def g(v):\n    return v\ndef h(v):\n    return g(v)\ndef f():\n    sink(h(outside()))\n"));
    assert!(!is_found("def h(v):\n    return h(v)\ndef f():\n    sink(h(outside()))\n"));
}

#[test]
fn a_sink_may_ask_how_the_value_stands_in_its_text() {
    assert!(is_found("x = outside()\nquery('SELECT ' + x)\n"));
    assert!(!is_found("x = outside()\nquery(x)\n"));
    assert!(!is_found("x = outside()\nquery('a ' + x)\n"));
    for (text, is_reported) in [
        ("x", true),
        ("f'http://{x}/a'", true),
        ("x + '/a'", true),
        ("f'http://a/{x}'", false),
        ("base + x", false),
        ("'%s/a' % x", true),
    ] {
        assert_eq!(is_found(&format!("x = outside()\nfetch({text})\n")), is_reported, "{text}");
    }
}

#[test]
fn parameters_may_be_sources_and_sources_may_weigh_less() {
    assert!(is_found("def f(raw_name):\n    sink(raw_name)\n"));
    assert!(!is_found("def f(raw_name: int):\n    sink(raw_name)\n"));
    assert!(!is_found("def f(name):\n    sink(name)\n"));
    let found = claims(&added("src/a.py", "sink(setting())\n"));
    assert_eq!(found[0].severity, Some(Severity::Suggestion));
    // Of two ways into one sink the graver is told.
    let found = claims(&added("src/a.py", "sink(setting() + outside())\n"));
    assert_eq!(found.iter().map(|claim| claim.severity).collect::<Vec<_>>(), [Some(Severity::Blocker)]);
}

/// Only what the change touched is its own: the source, a step, or the sink.
#[test]
fn a_finding_stands_where_the_change_touched_the_way() {
    let code = "def f():\n    x = outside()\n    y = x + 'a'\n    z = 1\n    sink(y)\n";
    let place = |numbers: &[u32]| claims(&touched(code, numbers)).first().and_then(|claim| claim.line_start);
    assert_eq!(place(&[5]), Some(5));
    assert_eq!(place(&[2, 5]), Some(5));
    assert_eq!(place(&[3]), Some(3));
    assert_eq!(place(&[2]), Some(2));
    assert_eq!(place(&[4]), None);
    // A helper was touched: its callers are looked at again.
    let code = "def h(v):\n    sink(v)\ndef f():\n    h(outside())\n";
    let found = claims(&touched(code, &[2]));
    assert_eq!(found.first().and_then(|claim| claim.line_start), Some(2));
}

#[test]
fn a_field_carries_data_from_one_method_to_another() {
    let class = |left: &str, read: &str| {
        format!("class Page:\n    def show(self):\n        sink({read})\n\n    def load(self):\n        self.name = {left}\n")
    };
    assert_eq!(lines(&class("outside()", "self.name")), [3]);
    assert!(!is_found(&class("quote(outside())", "self.name")));
    assert!(!is_found(&class("outside()", "self.other")));
    let of_two_classes = "class A:\n    def load(self):\n        self.name = outside()\n\nclass B:\n    def show(self):\n        sink(self.name)\n";
    assert!(!is_found(of_two_classes));
}

#[test]
fn a_constructor_fills_fields() {
    let class = "class Fetcher:\n    def __init__(self, kind, url):\n        self.url = url\n        self.kind = kind\n\n    def run(self):\n        sink(self.url)\n\n";
    let made = |arguments: &str| format!("{class}def f():\n    Fetcher({arguments}).run()\n");
    assert_eq!(lines(&made("1, outside()")), [7]);
    assert!(is_found(&made("1, url=outside()")));
    assert!(!is_found(&made("outside(), 1")));
    let found = claims(&touched(&made("1, outside()"), &[10]));
    assert_eq!(found.iter().filter_map(|claim| claim.line_start).collect::<Vec<_>>(), [10]);
}

#[test]
fn a_safe_part_of_the_result_is_safe() {
    assert!(!is_found("sink(outside()).isdigit()\n"));
    assert!(is_found("sink(outside()).read()\n"));
}

#[test]
fn what_is_called_is_looked_at() {
    assert!(is_found("sink(outside())()\n"));
}

#[test]
fn a_flow_of_before_is_not_new() {
    let code = "def f():\n    x = outside()\n    sink(x)\n";
    let mut change = touched(code, &[3]);
    let removed = tribunal_core::diff::change::DiffLine {
        origin: Origin::Removed,
        text: "    sink( x )".to_owned(),
        old_line: Some(3),
        new_line: None,
    };
    change.files[0].hunks[0].lines.insert(2, removed);
    change.files[0].hunks[0].old_start = 1;
    assert_eq!(claims(&change).len(), 0);
}

/// Who administers a system names servers and commands there by design, and a transport sends what its own program asks for.
#[test]
fn an_administrator_is_asked_about() {
    let severity = |head: &str| {
        let code = format!("{head}\n    sink(raw_a)\n");
        claims(&added("src/a.py", &code)).first().and_then(|claim| claim.severity)
    };
    assert_eq!(severity("def f(raw_a):"), Some(Severity::Blocker));
    assert_eq!(severity("@post('/x')\ndef f(raw_a, user=Depends(get_user)):"), Some(Severity::Blocker));
    assert_eq!(severity("@post('/x')\ndef f(raw_a, user=Depends(get_admin_user)):"), Some(Severity::Question));
    assert_eq!(severity("@staff_member_required\ndef f(raw_a):"), Some(Severity::Question));
    assert_eq!(severity("def RoundTrip(raw_a):"), Some(Severity::Blocker));
}

/// Neither depth nor length nor loops within loops hold up a review.
#[test]
fn evaluation_is_bounded() {
    let deep = format!("x = outside()\nsink({}x{})\n", "(".repeat(2000), ")".repeat(2000));
    lines(&deep);
    let long = format!("x = outside()\nsink({}x)\n", "'a' + ".repeat(1000));
    assert!(is_found(&long));
    let mut nested = "x = outside()\n".to_owned();
    for depth in 0..40 {
        nested.push_str(&format!("{}for i in x:\n", " ".repeat(depth)));
    }
    nested.push_str(&format!("{}sink(x)\n", " ".repeat(40)));
    lines(&nested);
}

#[test]
fn a_rule_that_makes_no_sense_is_refused() {
    let fails = |from: &str, to: &str| {
        let text = RULE.replace(from, to);
        let rule = load::parse("own-flow.yml", &text).unwrap();
        RuleSet::new(vec![rule]).and_then(|set| set.compile_all()).unwrap_err().to_string()
    };
    assert!(fails("[outside(),", "[outsiders,").contains("there is no list called `outsiders`"));
    assert!(fails("- sink($ARG)", "- sink(_)").contains("no argument is `$ARG`"));
    assert!(fails("languages: [python]", "languages: [bash]").contains("not followed in"));
    assert!(fails("- sink($ARG)", "- { parameter: x }").contains("only a source can be a `parameter`"));
}

mod exemptions;
mod limits;
