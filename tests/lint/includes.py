#!/usr/bin/env python3
"""Checks that includes point one way (docs/architecture.md) and that no two headers or units include each other in a circle.

A folder may include itself and the folders that ALLOWED lists for it. formats/<name> and encodings/<name> see no other format or
encoding: what two of them share lies in wire/, or is a member of a table in reel/."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = {"reel", "wire", "core"}
ALLOWED = {
    "reel": set(),
    "wire": {"reel"},
    "core": {"reel", "wire"},
    "formats": BASE,
    "encodings": BASE,
    "targets": BASE | {"encodings"},
    "values": BASE,
    "reports": BASE | {"encodings", "targets"},
    "views": BASE | {"encodings", "targets", "reports"},
}
# access/ comes after catalog/ because tokens and the audit log are rows of the catalog.
SERVER = ["http", "store", "catalog", "access", "peers", "work", "manifests", "scans", "recordings", "uploads", "live", "imports"]
SERVER += ["maintenance", "events", "views", "api", "cli"]
# The folders of api/; what lies in api/ itself is shared by all of them.
API = ["admin", "annotations", "recordings", "uploads", "export", "contents", "reports", "grafana", "tree", "service"]


def folder(path):
    """("formats", "mcap") for formats/mcap/scan.c, ("core", "") for core/scan.c; tables such as formats/formats.c are ("formats", "")."""
    parts = path.parts
    return parts[0], parts[1] if len(parts) > 2 else ""


def unit(path):
    """x.c, x.h and x_internal.h are one unit."""
    return str(path.with_suffix("")).removesuffix("_internal")


# Units that are one by nature, and why.
ONE_UNIT = {
    ("store/reference", "store/store"),  # opening a stored file follows a reference, and a reference is a file of the store
    # A scan closes what was open and rechecks references; opening a recording or finding a changed reference starts a scan.
    ("scans/open_recordings", "scans/references", "scans/scan_job", "scans/scanning"),
    ("views/annotations", "views/views"),  # the JSON of a recording, in two files for its length
}


def lib_problem(user, used):
    (top, part), (used_top, used_part) = folder(user), folder(used)
    if used_top == top:
        if top in ("formats", "encodings") and part != used_part and part and used_part:
            return f"one of {top}/ includes another"
        return None
    return None if used_top in ALLOWED[top] else f"{top}/ must not include {used_top}/"


def check(base, problem_of):
    problems, graph = [], {}
    for path in sorted(base.rglob("*.[ch]")):
        user = path.relative_to(base)
        for included in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            used = pathlib.Path(included)
            if (base / used).exists():
                graph.setdefault(unit(user), set()).add(unit(used))
                problem = problem_of(user, used)
                if problem:
                    problems.append(f"{base.name}/{user}: {problem} ({included})")
            elif base.name == "server" and not any((ROOT / root / used).exists() for root in ("lib", "include")):
                problems.append(f"{base.name}/{user}: {included} is not there")
    return problems + [f"{base.name}: a circle: {' -> '.join(c)}" for c in circles(graph) if tuple(c) not in ONE_UNIT]


def circles(graph):
    """Strongly connected units (a .c and its .h are one), by Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other == node:
                continue
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            group = []
            while True:
                group.append(stack.pop())
                if group[-1] == node:
                    break
            if len(group) > 1:
                found.append(sorted(group))

    sys.setrecursionlimit(10000)
    for node in list(graph):
        if node not in index:
            visit(node)
    return found


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
    rules = {"lib": lib_problem, "server": server_problem}
    problems = [p for base in sys.argv[1:] or rules for p in check(ROOT / base, rules[base])]
    print("\n".join(problems) or "includes point one way")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
