//! Two copies at once on the same branch (design rule 13).

use super::sandbox::{NO_TLS, Run, Sandbox, answering, finish};
use serde_json::json;

/// Both end well and say the same; one of them did the work.
#[test]
fn two_copies_at_once_agree() {
    let sandbox = Sandbox::with_shared_list();
    sandbox.write("tls.py", NO_TLS);
    sandbox.seat("sdet", &format!("sleep 0.3\n{}", answering(&json!({ "findings": [] }))));
    let copies: Vec<_> = (0..2)
        .map(|_| {
            let command = sandbox.command(&["review", "--format", "json"]);
            std::thread::spawn(move || finish(command, b""))
        })
        .collect();
    let ended: Vec<_> = copies.into_iter().map(|copy| copy.join().unwrap().ends_with(1)).collect();
    let mut documents: Vec<_> = ended.iter().map(Run::json).collect();
    documents.sort_by_key(|document| document["status"] == "noop");
    assert_eq!((&documents[0]["status"], &documents[1]["status"]), (&"blocking".into(), &"noop".into()));
    documents[1]["status"] = documents[0]["status"].clone();
    assert_eq!(documents[0], documents[1]);
    assert_eq!(sandbox.tribunal(&["history", "--format", "json"]).json().as_array().unwrap().len(), 1);
}

/// Many copies that start on a repository without a ledger make one ledger.
#[test]
fn many_copies_make_one_ledger() {
    let sandbox = Sandbox::with_shared_list();
    let copies: Vec<_> = (0..6)
        .map(|_| {
            let command = sandbox.command(&["review", "--committed"]);
            std::thread::spawn(move || finish(command, b""))
        })
        .collect();
    for copy in copies {
        copy.join().unwrap().ends_with(0);
    }
    assert_eq!(sandbox.tribunal(&["history", "--format", "json"]).json().as_array().unwrap().len(), 1);
}
