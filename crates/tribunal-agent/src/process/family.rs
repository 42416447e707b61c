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

/// Threads of everything that our user runs now.
#[cfg(target_os = "linux")]
pub fn threads_of_user() -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(us) = std::fs::metadata("/proc/self") else { return 0 };
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    entries
        .flatten()
        .filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit))
        .filter(|entry| entry.metadata().is_ok_and(|about| about.uid() == us.uid()))
        .map(|entry| std::fs::read_dir(entry.path().join("task")).map_or(0, |tasks| tasks.count() as u64))
        .sum()
}

/// Bytes of files that have no name any more and are only held open, memory files among them: nothing else counts them.
#[cfg(target_os = "linux")]
pub fn held_without_name(members: &[Member]) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let mut seen = std::collections::BTreeSet::new();
    let mut bytes = 0;
    for member in members {
        let Ok(entries) = std::fs::read_dir(format!("/proc/{}/fd", member.id)) else { continue };
        for entry in entries.flatten() {
            let Ok(about) = std::fs::metadata(entry.path()) else { continue };
            if about.is_file() && about.nlink() == 0 && seen.insert((about.dev(), about.ino())) {
                bytes += about.blocks() * 512;
            }
        }
    }
    bytes
}

#[cfg(not(target_os = "linux"))]
pub fn held_without_name(_members: &[Member]) -> u64 {
    0
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
