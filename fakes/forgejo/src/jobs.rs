//! What jobs of workflows printed (from version 17 on).

use crate::call::{Call, not_found};
use crate::site::Forgejo;
use crate::state::{Job, Quirk, State, Status};
use fake_forge_base::{Base, Reply, User};
use serde_json::{Value, json};

impl Forgejo {
    /// The second job of a run fails at a commit, and has printed this; the first printed something else.
    pub fn fail_job(&mut self, base: &mut Base<Quirk>, path: &str, sha: &str, name: &str, log: &str, by: &User) {
        let (project, run) = (base.project(path).expect("a project").id, base.ids.fresh());
        let run_number = self.state.jobs.iter().filter(|job| job.project == project && job.place == 0).count() as u64 + 1;
        for (place, name, log) in [(0, "before", "all is well\n"), (1, name, log)] {
            let (name, log) = (name.to_owned(), log.to_owned());
            self.state.jobs.push(Job { id: base.ids.fresh(), project, run, run_number, place, name, log });
        }
        self.state.statuses.push(Status {
            id: base.ids.fresh(),
            project,
            sha: sha.to_owned(),
            context: name.to_owned(),
            state: "failure".into(),
            description: "Failing after 3s".into(),
            target_url: format!("/{path}/actions/runs/{run_number}/jobs/1"),
            creator: by.clone(),
            created_at: base.clock.tick(),
        });
    }
}

pub fn answer(state: &State, call: &Call<'_>, rest: &[&str]) -> Option<Reply> {
    let own = || state.jobs.iter().filter(|job| job.project == call.project);
    Some(match rest {
        ["runs"] => {
            let wanted = call.request.query_value("run_number");
            let first =
                own().filter(|job| job.place == 0 && wanted.as_deref().is_none_or(|number| number == job.run_number.to_string()));
            let runs: Vec<Value> =
                first.map(|job| json!({ "id": job.run, "index_in_repo": job.run_number, "status": "failure" })).collect();
            Reply::json(200, &json!({ "total_count": runs.len(), "workflow_runs": runs }))
        }
        ["runs", run, "jobs"] => {
            let of_run = own().filter(|job| job.run.to_string() == *run);
            Reply::json(200, &Value::Array(of_run.map(|job| show(call, job)).collect()))
        }
        ["jobs", id, "logs"] => match own().find(|job| job.id.to_string() == *id) {
            Some(job) => Reply::text(200, &job.log),
            None => not_found(),
        },
        _ => return None,
    })
}

fn show(call: &Call<'_>, job: &Job) -> Value {
    let page = format!("{}/actions/runs/{}/jobs/{}/attempt/1", call.web(), job.run_number, job.place);
    json!({ "id": job.id, "run_id": job.run, "name": job.name, "status": "failure", "attempt": 1, "html_url": page })
}
