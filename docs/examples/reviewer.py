#!/usr/bin/env python3
"""A reviewer for Tribunal: asks that every TODO in the change names an owner, as in TODO(ana)."""
import json, re, sys

brief = json.load(sys.stdin)
findings, seen = [], set()
for file in brief["files"]:
    for line in file["diff"].splitlines():
        match = re.match(r"\+ *(\d+) (.*TODO(?!\().*)", line)
        if match:
            seen.add((file["path"], match[2]))
            findings.append({
                "category": brief["role"]["categories"][0]["code"], "file": file["path"], "line_start": int(match[1]),
                "evidence": match[2], "severity": "suggestion", "confidence": "high", "blast": "local",
                "justification": "precedent", "failure_mode": "Nobody is asked to finish this, so it stays.",
                "mitigation": "Name an owner: TODO(name).", "slug": "todo-without-owner",
            })
prior = [{"id": old["id"], "verification": "no" if (old["file"], old["evidence"]) in seen else "yes",
          "note": "looked for the quoted line in the new diff"} for old in brief["prior_findings"]]
json.dump({"findings": findings, "prior": prior}, sys.stdout)
