//! What the demo plants.

/// Path, text before, text after.
pub const PLANTED: [(&str, &str, &str); 5] = [
    (
        "app/orders.py",
        "import yaml\n\n\ndef load(path):\n    with open(path) as handle:\n        return yaml.safe_load(handle)\n",
        "import yaml\n\n\ndef load(path):\n    with open(path) as handle:\n        return yaml.load(handle)\n\n\ndef find(cursor, name):\n    cursor.execute(f\"SELECT * FROM orders WHERE name = '{name}'\")\n    return cursor.fetchall()\n\n\ndef add(item, basket=[]):\n    basket.append(item)\n    return basket\n",
    ),
    (
        "web/server.js",
        "const https = require('https');\n\nmodule.exports = {};\n",
        "const https = require('https');\nconst { exec } = require('child_process');\n\nfunction convert(req, res) {\n  exec(`convert ${req.query.file} out.png`, () => res.end());\n}\n\nasync function notifyAll(users) {\n  users.forEach(async (user) => {\n    await send(user);\n  });\n}\n\nmodule.exports = { convert, notifyAll };\n",
    ),
    (
        "worker/main.go",
        "package worker\n\nimport \"net/http\"\n\nvar client = http.DefaultClient\n",
        "package worker\n\nimport (\n\t\"crypto/tls\"\n\t\"net/http\"\n)\n\nvar client = &http.Client{\n\tTransport: &http.Transport{\n\t\tTLSClientConfig: &tls.Config{InsecureSkipVerify: true},\n\t},\n}\n",
    ),
    (
        "engine/src/lib.rs",
        "pub fn wait() {}\n",
        "use std::time::Duration;\n\npub async fn wait() {\n    std::thread::sleep(Duration::from_secs(5));\n}\n",
    ),
    ("README.md", "# Demo\n", "# Demo\n\nOrders, a web front end and a worker.\n"),
];

/// A second change whose defects all have a safe fix.
pub const FIXABLE: [(&str, &str); 2] = [
    (
        "app/settings.py",
        "from decimal import Decimal\n\nimport yaml\n\n\ndef read(path):\n    with open(path) as handle:\n        return yaml.load(handle)\n\n\ndef price(name):\n    if name is \"tea\":\n        return Decimal(2.40)\n    raise NotImplemented\n",
    ),
    ("web/numbers.js", "function parse(texts) {\n  return texts.map(parseInt);\n}\n\nmodule.exports = { parse };\n"),
];
