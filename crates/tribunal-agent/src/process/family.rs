//! Who descends from a process, from `/proc`.

/// One living descendant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub id: u32,
    pub parent: u32,
    /// Bytes of memory it holds, shared ones included.
    pub memory: u64,
}

/// All descendants. On systems without `/proc`, none are seen.
pub fn below(ancestor: u32) -> Vec<Member> {
    let mut unplaced: Vec<Member> = everyone();
    let mut found: Vec<Member> = Vec::new();
    let mut parents = vec![ancestor];
    while let Some(parent) = parents.pop() {
        let (children, others): (Vec<Member>, Vec<Member>) = unplaced.into_iter().partition(|member| member.parent == parent);
        parents.extend(children.iter().map(|child| child.id));
        found.extend(children);
        unplaced = others;
    }
    found
}

/// Processes that carry this entry in their environment, wherever they have gone.
pub fn marked(entry: &str) -> Vec<u32> {
    everyone()
        .iter()
        .map(|member| member.id)
        .filter(|id| {
            std::fs::read(format!("/proc/{id}/environ"))
                .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|part| part == entry.as_bytes()))
        })
        .collect()
}

fn everyone() -> Vec<Member> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(member).collect()
}

/// `pid (name, which may hold anything) state parent …`; the 24th field is memory in pages.
fn member(id: u32) -> Option<Member> {
    const PARENT: usize = 1;
    const PAGES: usize = 21;
    let text = std::fs::read(format!("/proc/{id}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let pages: u64 = fields.get(PAGES)?.parse().ok()?;
    Some(Member { id, parent: fields.get(PARENT)?.parse().ok()?, memory: pages * PAGE })
}

/// Close enough everywhere: a limit of memory is a fence, not a measure.
const PAGE: u64 = 4096;
