//! The files of `integrations/` do what the program asks of them.

use super::sandbox::Sandbox;

/// Every command line of `tribunal` in a workflow, as the shell would split it.
fn command_lines(file: &str) -> Vec<Vec<String>> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations").join(file);
    let text = std::fs::read_to_string(path).unwrap().replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines
        .filter_map(|line| line.split_once("tribunal publish ").map(|(_, rest)| rest))
        .map(|rest| rest.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect())
        .collect()
}

/// Issue 16, point 11: our own workflow names the pull request, from what the forge says and not from the receipt.
#[test]
fn the_workflow_for_forks_names_its_pull_request() {
    let lines = command_lines("github/review-forks.yml");
    assert_eq!(lines.len(), 1, "{lines:?}");
    let [file, address] = lines[0].as_slice() else { panic!("{lines:?}") };
    let address =
        address.replace("$GITHUB_SERVER_URL", "https://github.com").replace("$REPOSITORY", "acme/shop").replace("$PULL", "7");
    assert_eq!(address, "https://github.com/acme/shop/pull/7");
    let asked: tribunal_core::pull::place::Asked = address.parse().unwrap();
    assert!(matches!(asked, tribunal_core::pull::place::Asked::Address { number: 7, .. }));
    // As it stands there the command is understood; only the file is not there.
    let sandbox = Sandbox::unborn();
    sandbox.tribunal_in(&sandbox.outside(), &["publish", file, &address]).ends_with(2).says("bad-receipt");
}
