#!/usr/bin/env python3
"""Checks that the includes of server/ point one way (docs/architecture.md) and that no headers or units include each other in a circle.

What the parts of libreel may call is checked by symbols.py."""
import pathlib
import re
import sys

from circles import circles

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER_ROOT = ROOT / "server"
# access/ comes after catalog/ because tokens and the audit log are rows of the catalog.
SERVER = ["http", "store", "catalog", "access", "definitions", "peers", "work", "manifests", "scans", "recordings", "datasets", "uploads", "live", "imports"]
SERVER += ["maintenance", "events", "views", "api", "cli"]
# The folders of api/; what lies in api/ itself is shared by all of them.
API = ["admin", "annotations", "definitions", "recordings", "uploads", "export", "contents", "reports", "grafana", "tree", "service", "mcp"]


def unit(path):
    """x.c, x.h and x_internal.h are one unit."""
    return str(path.with_suffix("")).removesuffix("_internal")


# Units that are one by nature, and why.
ONE_UNIT = {
    # A scan closes what was open and rechecks references; opening a recording or finding a changed reference starts a scan.
    ("scans/open_recordings", "scans/references", "scans/scan_job", "scans/scanning"),
    ("views/annotations", "views/views"),  # the JSON of a recording, in two files for its length
}


def check():
    problems, graph = [], {}
    for path in sorted(SERVER_ROOT.rglob("*.[ch]")):
        user = path.relative_to(SERVER_ROOT)
        for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            used = pathlib.Path(included)
            if (SERVER_ROOT / used).exists():
                if unit(user) != unit(used):
                    graph.setdefault(unit(user), set()).add(unit(used))
                problem = server_problem(user, used)
                if problem:
                    problems.append(f"server/{user}: {problem} ({included})")
            elif not any((ROOT / root / used).exists() for root in ("lib", "include")):
                problems.append(f"server/{user}: {included} is not there")
    return problems + [f"server: a circle: {' -> '.join(c)}" for c in circles(graph) if tuple(c) not in ONE_UNIT]


def server_problem(user, used):
    top, used_top = user.parts[0], used.parts[0]
    if top in SERVER and used_top in SERVER and SERVER.index(used_top) > SERVER.index(top):
        return f"{top}/ must not include {used_top}/"
    if top == used_top == "api" and len(used.parts) > 2:
        part, used_part = user.parts[1], used.parts[1]
        if part not in API or API.index(used_part) > API.index(part):
            return f"api/{part} must not include api/{used_part}/"
    return None


def main():
    problems = check()
    print("\n".join(problems) or "includes point one way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
