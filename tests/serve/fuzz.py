"""Thousands of requests made up by schemathesis from the service's own description: `make fuzz`.

None may be answered by a 500, by a status that is not documented, or by a body that is not of the documented type.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from lopsided.client import Client
from serve.running_service import running_service

CHECKS = "not_a_server_error,status_code_conformance,response_schema_conformance,content_type_conformance"
# One has no end, the other says "not yet" by a 503, which the checks take for an accident.
LEFT_OUT = ("/models/{name}/stream", "/v2/models/{name}/ready")

if __name__ == "__main__":
    program, examples = Path(sys.argv[1]).absolute(), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder, running_service(Path(folder)) as (address, _):
        with Client(address) as client:
            client.make_model("m", learner="koil", parameters={"budget": 10})
            for k in range(4):
                client.score("m", {"a": k / 2, "b": "xy"[k % 2]}, id=f"e{k}", label=k % 2)
        command = [str(program), "run", f"{address}/openapi.json", "--max-examples", examples, "--checks", CHECKS]
        command += ["--phases", "fuzzing,coverage", *(part for path in LEFT_OUT for part in ("--exclude-path", path))]
        sys.exit(subprocess.run(command, cwd=folder).returncode)  # where it may keep what it found
