#!/usr/bin/env python3
"""A reviewer for Tribunal: asks that every TODO in the change names an owner, as in TODO(ana)."""
import json
import re
import sys

brief = json.load(sys.stdin)
category = brief["role"]["categories"][0]["code"]
findings = []
for file in brief["files"]:
    for line in file["diff"].splitlines():
        match = re.match(r"\+ *(\d+) (.*TODO(?!\().*)", line)
        if match:
            findings.append({
                "category": category, "file": file["path"], "line_start": int(match[1]), "evidence": match[2],
                "severity": "suggestion", "confidence": "high", "blast": "Local", "justification": "Precedent",
                "failure_mode": "Nobody is asked to finish this, so it stays.",
                "mitigation": "Name an owner: TODO(name).", "slug": "todo-without-owner",
            })
json.dump({"findings": findings}, sys.stdout)
