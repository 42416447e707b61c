use super::*;
use tribunal_core::ids::RepoPath;

fn of(file: &str, text: &str) -> Symbols {
    symbols(Language::of(&RepoPath::from(file)).unwrap(), text, &BTreeSet::from(["helper"])).unwrap()
}

fn defined(symbols: &Symbols) -> Vec<String> {
    let named = |one: &Definition| match &one.container {
        Some(container) => format!("{container}.{} {}-{}", one.name, one.start_line, one.end_line),
        None => format!("{} {}-{}", one.name, one.start_line, one.end_line),
    };
    symbols.definitions.iter().map(named).collect()
}

fn called(symbols: &Symbols) -> Vec<String> {
    symbols.calls.iter().map(|call| format!("{}:{}", call.name, call.line)).collect()
}

/// Every language says where a function begins, where it ends, and what it calls.
#[test]
fn functions_and_calls_of_each_language() {
    for (file, text, definitions, calls) in [
        (
            "a.py",
            "class A:\n    @cache\n    def b(self):\n        return self.c.helper(\n            x)\n\ndef d():\n    B()\n",
            vec!["A 1-5", "A.b 2-5", "d 7-8"],
            vec!["helper:4", "B:8"],
        ),
        (
            "a.ts",
            "export const f = async (x: T) => {\n  helper<T>(x);\n};\nclass A {\n  m(): void { new B(); }\n}\napp.use = function use() { x.y.z() };\n",
            vec!["f 1-3", "A 4-6", "A.m 5-5", "use 7-7"],
            vec!["helper:2", "B:5", "z:7"],
        ),
        ("a.tsx", "function F() {\n  return <Helper a={g()} />;\n}\n", vec!["F 1-3"], vec!["Helper:2", "g:2"]),
        (
            "a.go",
            "package a\n\ntype T struct {\n\tx int\n}\n\nfunc (t *T) M() error {\n\treturn t.x.helper()\n}\n",
            vec!["T 3-5", "T.M 7-9"],
            vec!["helper:8"],
        ),
        (
            "A.java",
            "class A {\n  @Override\n  int m() {\n    return helper(new B());\n  }\n  A() {}\n}\n",
            vec!["A 1-7", "A.m 2-5", "A.A 6-6"],
            vec!["helper:4", "B:4"],
        ),
        (
            "a.c",
            "struct s { int x; };\nstatic char *copy(const char *s)\n{\n  return helper(s);\n}\n",
            vec!["s 1-1", "copy 2-5"],
            vec!["helper:4"],
        ),
        (
            "a.cc",
            "int &A::m(int x) {\n  return b->helper<int>(x);\n}\ntemplate <class T>\nT g() { return n::h(); }\n",
            vec!["A.m 1-3", "g 4-5"],
            vec!["helper:2", "h:5"],
        ),
        (
            "a.cs",
            "class A {\n  int P { get { return helper(); } }\n  void M() { x.Y.Helper(new B()); }\n}\n",
            vec!["A 1-4", "A.P 2-2", "A.M 3-3"],
            vec!["helper:2", "Helper:3", "B:3"],
        ),
        (
            "a.kt",
            "class A {\n  fun m(x: T): Int {\n    return b.helper(x)\n  }\n}\nfun g() = h()\n",
            vec!["A 1-5", "A.m 2-4", "g 6-6"],
            vec!["helper:3", "h:6"],
        ),
        (
            "a.rb",
            "module M\n  class A\n    def m(x)\n      B.helper(x)\n    end\n  end\nend\n",
            vec!["M 1-7", "M.A 2-6", "A.m 3-5"],
            vec!["helper:4"],
        ),
        (
            "a.php",
            "<?php\nclass A {\n  public function m() {\n    $this->b->helper(new B());\n    C::d();\n    e();\n  }\n}\n",
            vec!["A 2-8", "A.m 3-7"],
            vec!["helper:4", "B:4", "d:5", "e:6"],
        ),
        (
            "a.rs",
            "impl T for A {\n    fn m(&self) {\n        self.b.helper::<u8>(B::new());\n        log!(\"x\");\n    }\n}\n",
            vec!["A.m 2-5"],
            vec!["helper:3", "new:3", "log:4"],
        ),
        ("a.sh", "f() {\n  helper x\n}\n", vec!["f 1-3"], vec!["helper:2"]),
    ] {
        let symbols = of(file, text);
        assert_eq!(defined(&symbols), definitions, "{file}");
        assert_eq!(called(&symbols), calls, "{file}");
    }
}

#[test]
fn a_function_that_is_handed_on_is_no_call_but_a_place() {
    let symbols = of("a.py", "def f(xs):\n    # helper is great\n    return map(helper, xs)\n");
    assert_eq!(symbols.others, [Mention { name: "helper".into(), line: 3 }]);
    assert!(of("a.py", "def helper():\n    pass\n").others.is_empty(), "a definition does not use itself");
}

#[test]
fn types_are_named() {
    let types = |file: &str, text: &str| of(file, text).types.into_iter().map(|one| one.name).collect::<BTreeSet<String>>();
    assert!(
        types("a.rs", "fn f(x: &Request) -> Vec<Answer> { todo() }")
            .is_superset(&["Request", "Answer"].map(str::to_owned).into())
    );
    assert!(types("a.py", "def f(x: Request): return Answer(x)").is_superset(&["Request", "Answer"].map(str::to_owned).into()));
    assert!(types("a.go", "package a\nfunc f(r *Request) Answer { return Answer{} }").contains("Request"));
}

#[test]
fn a_name_is_the_last_one() {
    for (text, name) in [
        ("a.b.c", "c"),
        ("A::<T>::b", "b"),
        ("f<Vec<T>>", "f"),
        ("*p", "p"),
        ("log!", "log"),
        ("x->y", "y"),
        ("(x)", ""),
        ("a?.b!", "b"),
    ] {
        assert_eq!(last_name(text), name, "{text}");
    }
}
