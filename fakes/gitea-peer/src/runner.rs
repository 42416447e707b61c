//! A runner of workflows that runs nothing: it takes a job, says what was printed, and that it failed. It speaks the protocol that real
//! runners do, in its JSON form.

use crate::server::{GiteaPeer, MAINTAINER};
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tribunal_forge::http::client::{Http, Settings};

/// The label that jobs of tests ask for.
pub const LABEL: &str = "peer";
const PATIENCE: Duration = Duration::from_secs(300);

/// A workflow with one job, run when a label is put on a pull request. A push would do too, but the server may look at the branch for an
/// earlier push only then, and run the job twice.
pub fn workflow(job: &str) -> String {
    format!(
        "name: {job}\non:\n  pull_request:\n    types: [labeled]\njobs:\n  {job}:\n    runs-on: {LABEL}\n    steps:\n      - run: make\n"
    )
}

struct Runner {
    http: Http,
    who: HeaderMap,
}

impl Runner {
    async fn register(peer: &GiteaPeer, path: &str) -> Runner {
        let token = peer.api(MAINTAINER, Method::POST, &format!("/repos/{path}/actions/runners/registration-token"), None).await;
        let api = format!("{}/api/actions/runner.v1.RunnerService", peer.origin());
        let settings = Settings::anonymous(api);
        let mut runner = Runner { http: Http::new(settings).expect("a client"), who: HeaderMap::new() };
        let asked = json!({ "name": "peer", "token": token["token"], "version": "1", "labels": [LABEL] });
        let made = runner.call("Register", &asked).await;
        for (name, field) in [("x-runner-uuid", "uuid"), ("x-runner-token", "token")] {
            let value = made["runner"][field].as_str().expect("a runner");
            runner.who.insert(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header"));
        }
        runner
    }

    async fn call(&self, name: &str, body: &Value) -> Value {
        let answer = self.http.write_with(Method::POST, &format!("/{name}"), Some(body), name, self.who.clone()).await;
        let answer = answer.unwrap_or_else(|fault| panic!("{name}: {fault}"));
        answer.json(name).expect("an answer")
    }

    /// The number of the next job. Numbers of 64 bits are texts in this protocol.
    async fn take(&self) -> Value {
        let started = Instant::now();
        loop {
            let answer = self.call("FetchTask", &json!({ "tasksVersion": "0" })).await;
            if !answer["task"]["id"].is_null() {
                return answer["task"]["id"].clone();
            }
            assert!(started.elapsed() < PATIENCE, "no job came: {answer}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A job that has printed all it will.
pub struct Failing {
    runner: Runner,
    state: Value,
}

impl Failing {
    /// Says that it failed. To be said again when the server does not show it: what it says of a job that was just made may come after.
    pub async fn tell(&self) {
        self.runner.call("UpdateTask", &json!({ "state": self.state })).await;
    }
}

impl GiteaPeer {
    /// Takes the next job of a repository, and has it print this.
    pub async fn next_job(&self, path: &str, log: &str) -> Failing {
        let runner = Runner::register(self, path).await;
        let task = runner.take().await;
        let at = "2026-01-31T12:00:00Z";
        let lines: Vec<&str> = log.lines().collect();
        let mut index = 0;
        for part in lines.chunks(5_000) {
            let rows: Vec<Value> = part.iter().map(|line| json!({ "time": at, "content": line })).collect();
            runner.call("UpdateLog", &json!({ "taskId": task, "index": index.to_string(), "rows": rows })).await;
            index += part.len();
        }
        runner.call("UpdateLog", &json!({ "taskId": task, "index": index.to_string(), "rows": [], "noMore": true })).await;
        let state = json!({ "id": task, "result": "RESULT_FAILURE", "startedAt": at, "stoppedAt": "2026-01-31T12:00:03Z" });
        Failing { runner, state }
    }
}
