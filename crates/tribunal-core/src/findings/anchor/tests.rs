use super::*;
use crate::diff::parse::parse_diff;
use crate::findings::key::Symbol;
use proptest::prelude::*;

fn file(diff: &str) -> ChangedFile {
    parse_diff(diff.as_bytes()).unwrap().files.remove(0)
}

fn sample() -> ChangedFile {
    file(
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,4 +1,5 @@\n def f(x):\n-    return eval(x)\n+    y = eval(x)\n+    return y\n     # end\n x = 1\n",
    )
}

fn written(file: &ChangedFile, evidence: &str, hint: Option<u32>) -> Result<Anchor, AnchorFailure> {
    anchor(file, Quoting::Written, evidence, hint.map(Hint::line))
}

fn place(found: &Result<Anchor, AnchorFailure>) -> Result<(Side, u32, u32), AnchorFailure> {
    found.as_ref().map(|anchor| (anchor.side, anchor.line_start, anchor.line_end)).map_err(|failure| *failure)
}

/// PR-58: no quote, no finding.
#[test]
fn a_claim_without_evidence_has_no_place() {
    assert_eq!(written(&sample(), "  ", None), Err(AnchorFailure::NoEvidence));
    assert_eq!(written(&sample(), "exec(x)", None), Err(AnchorFailure::NotInDiff));
}

/// Issue rule: what was there before is not this change's fault.
#[test]
fn unchanged_code_is_nobody_s_fault() {
    assert_eq!(written(&sample(), "def f(x):", None), Err(AnchorFailure::UnchangedCode));
}

/// Design rule 2: the quote decides, the number is a hint.
#[test]
fn the_line_comes_from_the_quote_and_not_from_the_hint() {
    assert_eq!(place(&written(&sample(), "y  =  eval(x)", Some(99))), Ok((Side::New, 2, 2)));
}

#[test]
fn deleted_code_is_cited_on_the_old_side() {
    assert_eq!(place(&written(&sample(), "return eval(x)", None)), Ok((Side::Old, 2, 2)));
    // Both sides hold this part; the signs say which is meant, and without them the new side is.
    assert_eq!(place(&written(&sample(), "eval(x)", None)), Ok((Side::New, 2, 2)));
    assert_eq!(place(&written(&sample(), "-     2     return eval(x)\n      3     # end", None)), Ok((Side::Old, 2, 3)));
}

const SHOP: &str = "diff --git a/src/shop.js b/src/shop.js\n--- a/src/shop.js\n+++ b/src/shop.js\n@@ -10,7 +10,17 @@ class Shop {\n   constructor(db) {\n     this.db = db;\n   }\n \n+  async order(user, items) {\n+    const sql = `INSERT INTO orders VALUES ('${user.name}', ${items.length})`;\n+    if (user.age < 18 && !user.isAdmin) {\n+\treturn \"denied\";\n+    }\n+\n+    const total = items.reduce((sum, item) => sum + item.price, 0);\n+    await this.db.run(sql);\n+    return { total, user: user.id };\n+  }\n   close() {\n     this.db.close();\n   }\n";

/// Issue 18, section 0, point 4: what models write, and where it leads. The lines of the file:
/// 14 `async order(…)`, 15 `const sql`, 16 `if (…)`, 17 `return "denied"`, 18 `}`, 19 blank, 20 `const total`, 21 `await`, 22 `return {`, 23 `}`.
#[test]
fn quotes_are_found_as_models_write_them() {
    let file = file(SHOP);
    let sql = "const sql = `INSERT INTO orders VALUES ('${user.name}', ${items.length})`;";
    for (evidence, lines) in [
        // As asked for.
        (sql.to_owned(), (15, 15)),
        (format!("    {sql}"), (15, 15)),
        (format!("    {sql}\n    if (user.age < 18 && !user.isAdmin) {{\n"), (15, 16)),
        // With the mark and the number of the brief.
        (format!("+    15     {sql}"), (15, 15)),
        (format!("+   15 {sql}"), (15, 15)),
        (format!("+15 {sql}"), (15, 15)),
        (format!("+    15*     {sql}"), (15, 15)),
        (format!("    15     {sql}"), (15, 15)),
        (format!("+    15     {sql}\n+    16     if (user.age < 18 && !user.isAdmin) {{"), (15, 16)),
        (format!("15     {sql}\n16     if (user.age < 18 && !user.isAdmin) {{"), (15, 16)),
        // With marks of other tools.
        (format!("+    {sql}"), (15, 15)),
        (format!("+ {sql}"), (15, 15)),
        (format!("+ 15 | {sql}"), (15, 15)),
        (format!("15 | + {sql}"), (15, 15)),
        (format!("15: {sql}"), (15, 15)),
        (format!("L15: {sql}"), (15, 15)),
        (format!("Line 15: {sql}"), (15, 15)),
        (format!("    15→    {sql}"), (15, 15)),
        (format!("src/shop.js:15: {sql}"), (15, 15)),
        (format!("{sql} (line 15)"), (15, 15)),
        (format!("@@ -10,6 +10,15 @@ class Shop {{\n+    {sql}"), (15, 15)),
        (format!("=== FILE src/shop.js (modified) ===\n+    15     {sql}"), (15, 15)),
        // Fenced, quoted, wrapped.
        (format!("```js\n{sql}\n```"), (15, 15)),
        (format!("```diff\n+    {sql}\n```"), (15, 15)),
        (format!("``{sql}``"), (15, 15)),
        ("`await this.db.run(sql);`".to_owned(), (21, 21)),
        ("\"await this.db.run(sql);\"".to_owned(), (21, 21)),
        ("“await this.db.run(sql);”".to_owned(), (21, 21)),
        ("> await this.db.run(sql);\n> return { total, user: user.id };".to_owned(), (21, 22)),
        ("await this.db.run(sql); return { total, user: user.id };".to_owned(), (21, 22)),
        // A part of a line.
        ("this.db.run(sql)".to_owned(), (21, 21)),
        ("${user.name}', ${items.length}".to_owned(), (15, 15)),
        // White space, line ends, characters.
        ("\tif (user.age < 18\r\n  && !user.isAdmin) {\r\n\t\treturn \"denied\";\r\n".to_owned(), (16, 17)),
        ("if (user.age &lt; 18 &amp;&amp; !user.isAdmin) {".to_owned(), (16, 16)),
        ("if (user.age &#60; 18 &#x26;&#x26; !user.isAdmin) {".to_owned(), (16, 16)),
        ("return “denied”;".to_owned(), (17, 17)),
        ("return \\\"denied\\\";".to_owned(), (17, 17)),
        ("if (user.age < 18 && !user.isAdmin) {\\n\\treturn \\\"denied\\\";".to_owned(), (16, 17)),
        ("+    16     if (user.age < 18 && !user.isAdmin) {\\n+    17 \\treturn \\\"denied\\\";".to_owned(), (16, 17)),
        // With something left out.
        ("async order(user, items) {\n...\nawait this.db.run(sql);".to_owned(), (14, 21)),
        ("async order(user, items) {\n    // ...\n    await this.db.run(sql);\n  }".to_owned(), (14, 21)),
        ("+    14   async order(user, items) {\n…\n+    21     await this.db.run(sql);".to_owned(), (14, 21)),
        (format!("{sql}\nawait this.db.run(sql);"), (15, 21)),
        (format!("+    15     {sql}\n+    21     await this.db.run(sql);"), (15, 21)),
        ("const total = items.reduce((sum, item) => ...".to_owned(), (20, 20)),
        ("... items.reduce((sum, item) => sum + item.price, 0);".to_owned(), (20, 20)),
        ("const sql = `INSERT INTO orders ... ${items.length})`;".to_owned(), (15, 15)),
        // A line of its own may be short.
        ("}".to_owned() + "\n\n    const total = items.reduce((sum, item) => sum + item.price, 0);", (18, 20)),
    ] {
        assert_eq!(place(&written(&file, &evidence, None)), Ok((Side::New, lines.0, lines.1)), "{evidence}");
    }
}

/// The other half: what is refused, and why.
#[test]
fn quotes_that_name_no_line_are_refused() {
    let file = file(SHOP);
    for (evidence, why) in [
        ("return", AnchorFailure::NoEvidence),
        ("+    17 return", AnchorFailure::NoEvidence),
        ("`return`", AnchorFailure::NoEvidence),
        ("const", AnchorFailure::NoEvidence),
        ("}", AnchorFailure::NoEvidence),
        ("{", AnchorFailure::NoEvidence),
        ("if (", AnchorFailure::NoEvidence),
        ("...", AnchorFailure::NotInDiff),
        ("", AnchorFailure::NoEvidence),
        // Cut inside a word, a number or an operator.
        ("st sql = `INSERT INTO orders", AnchorFailure::NotInDiff),
        ("this.db.ru", AnchorFailure::NotInDiff),
        ("user.age < 1", AnchorFailure::NotInDiff),
        ("user.age < 18 &", AnchorFailure::NotInDiff),
        ("+    21 is.db.run(sql)", AnchorFailure::NotInDiff),
        // Digits of a name are no line's number, and another line's number is none.
        ("8 && !user.isAdmin) {", AnchorFailure::NotInDiff),
        ("16: await this.db.run(sql);", AnchorFailure::NotInDiff),
        // Changed by the reviewer.
        ("await this.db.exec(sql);", AnchorFailure::NotInDiff),
        ("await this.db.run(sql);\n...\nasync order(user, items) {", AnchorFailure::NotInDiff),
        // There before.
        ("this.db.close();", AnchorFailure::UnchangedCode),
        ("     11     this.db = db;", AnchorFailure::UnchangedCode),
        // A name at several places.
        ("user", AnchorFailure::Ambiguous),
    ] {
        assert_eq!(place(&written(&file, evidence, None)), Err(why), "{evidence}");
    }
}

/// Removed lines quoted with what took their place.
#[test]
fn a_replacement_is_cited_at_its_new_lines() {
    for evidence in ["-    return eval(x)\n+    y = eval(x)", "-     2     return eval(x)\n+     2     y = eval(x)"] {
        assert_eq!(place(&written(&sample(), evidence, None)), Ok((Side::New, 2, 2)), "{evidence}");
    }
}

#[test]
fn among_equal_lines_the_hint_chooses() {
    let file = file("--- a/a\n+++ b/a\n@@ -0,0 +1,3 @@\n+same line\n+other\n+same line\n");
    assert_eq!(written(&file, "same line", Some(3)).unwrap().line_start, 3);
    assert_eq!(written(&file, "+     3 same line", Some(1)).unwrap().line_start, 3);
    assert_eq!(written(&file, "same line", None).unwrap().line_start, 1);
}

/// A line of keywords must be the only one, or the hint must point at it.
#[test]
fn a_line_of_keywords_needs_a_hint() {
    let file = file("--- a/a.py\n+++ b/a.py\n@@ -0,0 +1,4 @@\n+return None\n+y = 2\n+return None\n+else:\n");
    assert_eq!(written(&file, "return None", None), Err(AnchorFailure::Ambiguous));
    assert_eq!(written(&file, "return None", Some(2)), Err(AnchorFailure::Ambiguous));
    assert_eq!(written(&file, "return None", Some(3)).unwrap().line_start, 3);
    assert_eq!(written(&file, "else:", None).unwrap().line_start, 4);
}

/// Twice the same call: unchanged in line 2, added in line 31; a third one stands in line 50, where the diff does not reach.
fn twice() -> ChangedFile {
    let mut file = file(
        "--- a/a.go\n+++ b/a.go\n@@ -1,3 +1,4 @@\n func a() {\n \tsave(db)\n+\tflush(db)\n }\n@@ -29,3 +30,4 @@\n func b() {\n+\tsave(db)\n \tsync(db)\n }\n",
    );
    let mut lines = vec!["\tx()"; 60];
    for (line, text) in [(2, "\tsave(db)"), (31, "\tsave(db)"), (50, "\tsave(db)")] {
        lines[line - 1] = text;
    }
    file.new_text = Some(lines.join("\n").into());
    file
}

/// Issue 18, section 0, point 4: what is said of an unchanged line is not said of a changed one with the same text.
#[test]
fn a_claim_about_an_unchanged_copy_stays_there() {
    let file = twice();
    for (hint, outcome) in [
        (Some(2), Err(AnchorFailure::UnchangedCode)),
        (Some(3), Err(AnchorFailure::UnchangedCode)),
        (Some(50), Err(AnchorFailure::UnchangedCode)),
        (Some(31), Ok((Side::New, 31, 31))),
        (Some(28), Ok((Side::New, 31, 31))),
        (Some(400), Ok((Side::New, 31, 31))),
        (Some(12), Err(AnchorFailure::Ambiguous)),
        (None, Err(AnchorFailure::Ambiguous)),
    ] {
        assert_eq!(place(&written(&file, "save(db)", hint)), outcome, "{hint:?}");
    }
    for (evidence, outcome) in [
        ("      2 \tsave(db)", Err(AnchorFailure::UnchangedCode)),
        ("+    31 \tsave(db)", Ok((Side::New, 31, 31))),
        ("+\tsave(db)", Ok((Side::New, 31, 31))),
        ("func b() {\n\tsave(db)", Ok((Side::New, 30, 31))),
    ] {
        assert_eq!(place(&written(&file, evidence, None)), outcome, "{evidence}");
    }
    assert_eq!(place(&written(&file, "+\tsave(db)", Some(2))), Err(AnchorFailure::UnchangedCode));
    // A function is named by its first and last line.
    let range = |start, end| anchor(&file, Quoting::Written, "save(db)", Hint::new(Some(start), Some(end)));
    assert_eq!(place(&range(30, 33)), Ok((Side::New, 31, 31)));
    assert_eq!(place(&range(1, 4)), Err(AnchorFailure::UnchangedCode));
}

/// In one function the copy that the change wrote is meant.
#[test]
fn within_one_function_the_changed_copy_is_meant() {
    let file = file(
        "--- a/a.go\n+++ b/a.go\n@@ -2,2 +2,2 @@\n \tsave(db)\n-\tx()\n+\ty()\n@@ -29,1 +29,2 @@\n+\tsave(db)\n \tsync(db)\n",
    );
    let symbol = |name: &str, start_line, end_line| Symbol { name: name.into(), start_line, end_line };
    for (symbols, outcome) in [
        (vec![symbol("a", 1, 40)], Ok((Side::New, 29, 29))),
        (vec![symbol("a", 1, 10), symbol("b", 20, 40)], Err(AnchorFailure::Ambiguous)),
        (Vec::new(), Err(AnchorFailure::Ambiguous)),
    ] {
        let outline = Outline::new(symbols);
        let index = AnchorIndex::new(&file).with_outline(Some(&outline));
        assert_eq!(place(&index.anchor(Quoting::Written, "save(db)", None)), outcome);
    }
}

/// Rules and linters copy what they matched: a single token or a part of an endless line is enough.
#[test]
fn programs_quote_what_they_copied() {
    let copied = |evidence: &str, hint: u32| anchor(&file(SHOP), Quoting::Copied, evidence, Some(Hint::line(hint)));
    for (evidence, line) in [("\treturn \"denied\";", 17), ("return", 17), ("ait this.db.r", 21), ("  }", 23)] {
        let found = copied(evidence, line);
        assert_eq!(found.is_ok(), evidence.trim().len() > 1, "{evidence}");
        if let Ok(anchor) = found {
            assert_eq!(anchor.line_start, line, "{evidence}");
        }
    }
}

/// Names of the languages' identifiers, long enough to be evidence.
fn name() -> impl Strategy<Value = String> {
    "[a-z]{4,8}(_[a-z]{2,5})?"
}

/// A line of code that names something.
fn code_line() -> impl Strategy<Value = String> {
    (0usize..3, name(), name(), 0usize..6).prop_map(|(indent, a, b, form)| {
        let indent = "    ".repeat(indent);
        let code = match form {
            0 => format!("{a} = {b}(x, 1)"),
            1 => format!("if {a} < {b}[0] && !{b}.ok {{"),
            2 => format!("return {a}.{b}()"),
            3 => format!("fn {a}({b}: &str) -> u8 {{"),
            4 => format!("print(\"{a} {b}\", {a})"),
            _ => format!("{a}.{b}(\"<p>\", '&')"),
        };
        indent + &code
    })
}

/// A change in which every line is another one: `true` for an added line.
fn change() -> impl Strategy<Value = Vec<(bool, String)>> {
    prop::collection::vec((any::<bool>(), code_line()), 2..24).prop_map(|mut lines| {
        // Numbered names make every line the only one of its kind.
        for (n, (_, text)) in lines.iter_mut().enumerate() {
            text.push_str(&format!(" # note{n}"));
        }
        lines[0].0 = true;
        lines
    })
}

fn diff_of(lines: &[(bool, String)]) -> ChangedFile {
    let body: String = lines.iter().map(|(is_added, text)| format!("{}{text}\n", if *is_added { '+' } else { ' ' })).collect();
    let old = lines.iter().filter(|(is_added, _)| !is_added).count();
    let start = usize::from(old > 0);
    file(&format!("--- a/a\n+++ b/a\n@@ -{start},{old} +1,{} @@\n{body}", lines.len()))
}

/// The ways in which reviewers decorate quoted lines, each a line with its number and its sign.
fn decorated(lines: &[(u32, bool, &str)], how: usize) -> String {
    let each = |write: &dyn Fn(u32, char, &str) -> String| {
        lines
            .iter()
            .map(|(number, is_added, text)| write(*number, if *is_added { '+' } else { ' ' }, text))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let entities = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    match how {
        0 => each(&|_, _, text| text.to_owned()),
        1 => each(&|number, sign, text| format!("{sign}{number:>6} {text}")),
        2 => each(&|number, sign, text| format!("{sign}{number:>6}* {text}")),
        3 => each(&|number, sign, text| format!("{sign} {number} | {text}")),
        4 => each(&|_, sign, text| format!("{sign}{text}")),
        5 => each(&|number, _, text| format!("{number}: {text}")),
        6 => format!("```python\n{}\n```", each(&|_, _, text| text.to_owned())),
        7 => each(&|_, _, text| format!("> {text}")),
        8 => each(&|_, _, text| format!("\t{}\r", text.trim())),
        9 => each(&|_, _, text| entities(text)),
        10 => each(&|_, _, text| text.replace('"', "\\\"")).replace('\n', "\\n"),
        11 => each(&|_, _, text| text.trim().to_owned()).replace('\n', " "),
        12 => format!("```diff\n@@ -1,3 +1,4 @@\n{}\n```", each(&|number, sign, text| format!("{sign}{number:>6} {text}"))),
        _ => each(&|number, sign, text| format!("`{sign}{number:>6} {}`", text.trim())),
    }
}
const DECORATIONS: usize = 14;

proptest! {
    /// However lines are decorated, they are found where they stand.
    #[test]
    fn decorations_change_nothing(lines in change(), first in 0usize..24, count in 1usize..4, how in 0..DECORATIONS) {
        let file = diff_of(&lines);
        let first = first % lines.len();
        let last = (first + count).min(lines.len());
        let quoted: Vec<(u32, bool, &str)> = (first..last).map(|n| (n as u32 + 1, lines[n].0, lines[n].1.as_str())).collect();
        let evidence = decorated(&quoted, how);
        let found = place(&written(&file, &evidence, None));
        match quoted.iter().any(|(_, is_added, _)| *is_added) {
            true => prop_assert_eq!(found, Ok((Side::New, first as u32 + 1, last as u32)), "{}", evidence),
            false => prop_assert_eq!(found, Err(AnchorFailure::UnchangedCode), "{}", evidence),
        }
    }

    /// Two lines with an ellipsis between them are both ends of what is meant.
    #[test]
    fn an_ellipsis_stands_for_what_is_left_out(lines in change(), other in 1usize..24, how in 0usize..4) {
        // The first line is added.
        let last = 1 + other % (lines.len() - 1);
        let gap = ["...", "    // ...", "…", "# … as before"][how];
        let evidence = format!("{}\n{gap}\n{}", lines[0].1, lines[last].1);
        let found = place(&written(&diff_of(&lines), &evidence, None));
        prop_assert_eq!(found, Ok((Side::New, 1, last as u32 + 1)), "{}", evidence);
    }

    /// A quote that begins or ends inside a name stands nowhere.
    #[test]
    fn a_quote_cut_inside_a_name_has_no_place(lines in change(), line in 0usize..24, cut in 0usize..80, at_end in any::<bool>(), hint in prop::option::of(1u32..24)) {
        let (_, text) = &lines[line % lines.len()];
        let inside: Vec<usize> = (1..text.len()).filter(|at| is_inside_a_name(text, *at)).collect();
        let at = inside[cut % inside.len()];
        let evidence = if at_end { &text[..at] } else { &text[at..] };
        let found = written(&diff_of(&lines), evidence, hint);
        prop_assert!(found.is_err(), "{:?} is at {:?}", evidence, found);
    }

    /// Whatever is quoted, with whatever hint: the anchor holds a changed line, and the hinted line if that is an unchanged copy is
    /// never exchanged for another one.
    #[test]
    fn no_anchor_stands_on_unchanged_lines(
        lines in prop::collection::vec((any::<bool>(), "(foo|bar|return)(\\(x\\)| y)?"), 1..30),
        pick in 0usize..30,
        hint in prop::option::of(1u32..40),
        how in 0..DECORATIONS,
    ) {
        let file = diff_of(&lines);
        let (is_added, text) = &lines[pick % lines.len()];
        let evidence = decorated(&[(pick as u32 % lines.len() as u32 + 1, *is_added, text)], how);
        if let Ok(anchor) = written(&file, &evidence, hint) {
            let cited = (anchor.line_start..=anchor.line_end).map(|line| &lines[line as usize - 1]);
            prop_assert!(cited.clone().any(|(is_added, _)| *is_added));
            prop_assert!(fold(&anchor.quote).contains(&fold(text)));
        }
        if how == 0 && let Some((false, hinted)) = hint.and_then(|hint| lines.get(hint as usize - 1)) {
            prop_assert!(hinted != text || written(&file, &evidence, hint).is_err(), "the hint names an unchanged copy of {}", text);
        }
    }

    /// What a program copied is found at its line.
    #[test]
    fn a_copied_line_is_found_at_its_line(lines in change(), pick in 0usize..24) {
        let file = diff_of(&lines);
        let pick = pick % lines.len();
        let found = anchor(&file, Quoting::Copied, &lines[pick].1, Some(Hint::line(pick as u32 + 1)));
        prop_assert_eq!(found.is_ok(), lines[pick].0);
        prop_assert!(found.map_or(true, |anchor| anchor.line_start == pick as u32 + 1 && anchor.quote == lines[pick].1));
    }
}

/// Is there a letter or digit on both sides?
fn is_inside_a_name(text: &str, at: usize) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    is_letter(text.as_bytes()[at - 1]) && is_letter(text.as_bytes()[at])
}
