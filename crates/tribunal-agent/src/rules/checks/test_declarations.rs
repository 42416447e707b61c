//! Where a test begins, in the frameworks people use. Read from lines and not from trees: a removed test has no tree.

use super::pattern::Pattern;
use tribunal_core::diff::change::DiffLine;
use tribunal_core::diff::language::Language;

/// A test and the line that names it.
pub struct Declaration<'a> {
    pub name: &'a str,
    pub line: &'a DiffLine,
}

static PYTHON: Pattern = Pattern::new(r"^\s*(?:async\s+)?def\s+(test(?:_\w*|[A-Z]\w*)?)\s*\(");
static SCRIPT: Pattern = Pattern::new(
    r#"^\s*(?:it|test|specify)(?:\.(?:only|skip|concurrent|failing))?\(\s*(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)"|`([^`$]+)`)\s*,"#,
);
static GO: Pattern = Pattern::new(r"^func\s+(?:\([^)]*\)\s*)?(Test[A-Z0-9_]\w*)\s*\(");
static PHP: Pattern = Pattern::new(r"^\s*(?:public\s+)?function\s+(test\w+)\s*\(");
static RUBY: Pattern = Pattern::new(r##"^\s*(?:def\s+(test_\w+)|(?:it|test|specify)\s+(?:'([^']+)'|"([^"#]+)")\s+do\b)"##);
static BATS: Pattern = Pattern::new(r#"^\s*@test\s+(?:"([^"]+)"|'([^']+)')"#);
static CPP: Pattern = Pattern::new(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*\w+\s*,\s*(\w+)\s*\)");

static RUST_MARK: Pattern = Pattern::new(r"^\s*#\[(?:\w+::)*test(?:\(.*\))?\]");
static RUST_NAME: Pattern = Pattern::new(r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)");
static JVM_MARK: Pattern = Pattern::new(r"^\s*@(?:Test|ParameterizedTest|RepeatedTest)\b");
static JVM_NAME: Pattern = Pattern::new(r"\bfun\s+`([^`]+)`\s*\(|\bfun\s+(\w+)\s*\(|\bvoid\s+(\w+)\s*\(");
static CSHARP_MARK: Pattern = Pattern::new(r"^\s*\[(?:Fact|Theory|Test|TestCase|TestMethod)\b");
static CSHARP_NAME: Pattern = Pattern::new(r"\b(?:void|Task)\s+(\w+)\s*\(");

/// Every test that these lines declare. They must be one side of one hunk, in order: a mark may stand lines above its name.
pub fn declarations<'a>(language: Language, lines: impl Iterator<Item = &'a DiffLine>) -> Vec<Declaration<'a>> {
    let mut found = Vec::new();
    let mut marked = false;
    for line in lines {
        let name = match marks(language) {
            None => one_line_name(language, &line.text),
            Some((mark, name)) => {
                marked |= mark.is_match(&line.text);
                let here = if marked { name.group(&line.text) } else { None };
                // What stands between a mark and its name is more marks, never the end of a statement or of a body.
                let ended = line.text.trim_end().ends_with([';', '}']);
                if here.is_some() || ended {
                    marked = false;
                }
                here
            }
        };
        found.extend(name.map(|name| Declaration { name, line }));
    }
    found
}

fn marks(language: Language) -> Option<(&'static Pattern, &'static Pattern)> {
    match language {
        Language::Rust => Some((&RUST_MARK, &RUST_NAME)),
        Language::Java | Language::Kotlin => Some((&JVM_MARK, &JVM_NAME)),
        Language::CSharp => Some((&CSHARP_MARK, &CSHARP_NAME)),
        _ => None,
    }
}

fn one_line_name(language: Language, line: &str) -> Option<&str> {
    let pattern = match language {
        Language::Python => &PYTHON,
        Language::JavaScript | Language::TypeScript | Language::Tsx => &SCRIPT,
        Language::Go => &GO,
        Language::Php => &PHP,
        Language::Ruby => &RUBY,
        Language::Bash => &BATS,
        Language::Cpp => &CPP,
        _ => return None,
    };
    // `TestMain` runs the tests of a Go package and is none.
    pattern.group(line).filter(|name| !(language == Language::Go && *name == "TestMain"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tribunal_core::diff::change::Origin;

    fn names(language: Language, text: &str) -> Vec<String> {
        let lines: Vec<DiffLine> = text
            .lines()
            .map(|text| DiffLine { origin: Origin::Removed, text: text.to_owned(), old_line: Some(1), new_line: None })
            .collect();
        declarations(language, lines.iter()).iter().map(|found| found.name.to_owned()).collect()
    }

    #[test]
    fn every_framework_is_read() {
        assert_eq!(names(Language::Python, "    async def test_a(self):\ndef helper():"), ["test_a"]);
        assert_eq!(names(Language::TypeScript, "it('adds', () => {\ntest.only(\"b\", f)\nit.each(x)('c', f)"), ["adds", "b"]);
        assert_eq!(names(Language::Go, "func TestMain(m *testing.M) {\nfunc TestA(t *testing.T) {\nfunc Testify() {"), ["TestA"]);
        assert_eq!(names(Language::Rust, "#[tokio::test]\n#[should_panic]\nasync fn a() {\n}\nfn b() {"), ["a"]);
        assert_eq!(names(Language::Kotlin, "@Test\nfun `adds up`() {\n}\nfun helper() {"), ["adds up"]);
        assert_eq!(names(Language::CSharp, "[Fact]\npublic async Task Adds() {"), ["Adds"]);
        assert_eq!(names(Language::Ruby, "it \"adds\" do\ndef test_b\ndef b"), ["adds", "test_b"]);
    }
}
