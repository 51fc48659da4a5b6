# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sweep as an RO-Crate of the profile Process Run Crate (https://w3id.org/ro/wfrun), one of Workflow Run RO-Crates: a
directory with the design, what it read, the results and a description, in JSON-LD, of which program made them when,
where and of what. Programs and libraries are named by their hashes; inputs and templates lie in it."""
from __future__ import annotations

import json
import pathlib
import shutil
from datetime import datetime, timezone
from typing import Any

from .commit import commit, read_json
from .errors import OK
from .gather import gather
from .provenance import hash_file
from .store import Store

CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run"]
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _id(name: str) -> dict[str, str]:
    return {"@id": name}


def _files(directory: pathlib.Path, contexts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What the runs were made of, by path. What the design reads is copied, if it is still what it was."""
    found: dict[str, dict[str, Any]] = {}
    for value in contexts.values():
        for role, entries in (value or {}).get("files", {}).items():
            for path, digest in entries.items():
                name = f"{digest[:12]}-{pathlib.Path(path).name}"
                entry = {"@id": f"file://{path}", "@type": "File", "sha256": digest, "name": pathlib.Path(path).name,
                         "description": f"{role}: {path}"}  # fmt: skip
                if role == "inputs" and _copied(pathlib.Path(path), directory / "inputs" / name, digest):
                    entry["@id"] = f"inputs/{name}"
                found.setdefault(path, entry)
    return found


def _copied(path: pathlib.Path, to: pathlib.Path, digest: str) -> bool:
    try:
        if hash_file(path) != digest:
            return False
        to.parent.mkdir(exist_ok=True)
        shutil.copyfile(path, to)
    except OSError:
        return False
    return True


def write(store: Store, output: pathlib.Path | None) -> int:
    meta = store.meta  # first: there may be no such sweep
    directory = output or store.path / "crate"
    directory.mkdir(parents=True, exist_ok=True)
    gather(store, directory / "results.db")
    shutil.copyfile(store.path / "design.yaml", directory / "design.yaml")
    contexts, hosts = store.shared("contexts"), store.shared("hosts")
    made_of = _files(directory, contexts)
    programs = {path: f"#program-{at}" for at, path in enumerate(meta["programs"])}
    objects = [_id(entry["@id"]) for path, entry in made_of.items() if path not in programs]
    files = {entry["@id"]: entry for entry in made_of.values()}
    for name, host in hosts.items():
        if host and host.get("lstopo"):
            commit(directory / f"host-{name}.xml", host["lstopo"].encode(), replace=True)
            files[f"host-{name}.xml"] = {"@id": f"host-{name}.xml", "@type": "File", "name": f"{host['name']}",
                                         "encodingFormat": "application/xml"}  # fmt: skip
    actions = [_action(store, number, path, programs) for number, path in sorted(store.results())]
    own = [
        {"@id": "design.yaml", "@type": "File", "name": "Design", "encodingFormat": "application/yaml",
         "sha256": meta["design_hash"]},
        {"@id": "results.db", "@type": "File", "name": "Results", "encodingFormat": "application/vnd.sqlite3"},
    ]  # fmt: skip
    root = {
        "@id": "./", "@type": "Dataset", "name": meta["name"], "conformsTo": _id(PROFILE),
        "datePublished": _time(meta["created"]), "description": f"Results of umwelt sweep: {meta['name']}",
        "license": "not said", "hasPart": [_id(one["@id"]) for one in own] + [_id(name) for name in sorted(files)],
        "mentions": [_id(one["@id"]) for one in actions],
    }  # fmt: skip
    graph = [
        {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": _id("./"),
         "conformsTo": [_id("https://w3id.org/ro/crate/1.1")]},
        root, *own, *files.values(),
        {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"},
        {"@id": "#umwelt", "@type": "SoftwareApplication", "name": "Umwelt", "version": meta["umwelt"]},
        *({"@id": name, "@type": "SoftwareApplication", "name": pathlib.Path(path).name, "url": f"file://{path}",
           "softwareRequirements": _id("#umwelt"),
           **({"mainEntity": _id(made_of[path]["@id"])} if path in made_of else {})}
          for path, name in programs.items()),
        {"@id": "#made-of", "@type": "Collection", "name": "Inputs, templates, libraries", "hasPart": objects},
        *({"@id": f"#host-{key}", "@type": "HardwareApplication", **_host(key, host or {})}
          for key, host in sorted(hosts.items())),
        *({"@id": f"#context-{key}", "@type": "PropertyValue", "name": "environment, git",
           "value": json.dumps({name: (value or {}).get(name) for name in ("environment", "git", "directory")})}
          for key, value in sorted(contexts.items())),
        *actions,
    ]  # fmt: skip
    text = json.dumps({"@context": CONTEXT, "@graph": graph}, indent=1)
    commit(directory / "ro-crate-metadata.json", text.encode(), replace=True)
    print(f"{directory}: {len(actions):,} runs, {len(files)} files by their hashes")
    return OK


def _host(key: str, host: dict[str, Any]) -> dict[str, Any]:
    found = {"name": host.get("name"), "processorRequirements": host.get("processor"),
             "memoryRequirements": host.get("memory"), "operatingSystem": f"Linux {host.get('kernel')}"}  # fmt: skip
    return {**found, "softwareHelp": _id(f"host-{key}.xml")} if host.get("lstopo") else found


def _action(store: Store, number: int, path: pathlib.Path, programs: dict[str, str]) -> dict[str, Any]:
    result = read_json(path) or {}
    point = store.planned(number)
    program = next((programs[word] for word in point.arguments if word in programs), "#umwelt")
    return {
        "@id": f"#point-{number}", "@type": "CreateAction", "name": f"point {number}", "instrument": _id(program),
        "description": " ".join(["umwelt", "run", *point.arguments]), "startTime": _time(result.get("began")),
        "endTime": _time(result.get("ended")), "actionStatus": "http://schema.org/CompletedActionStatus",
        "object": [_id("design.yaml"), _id(f"#context-{result.get('context')}"), _id("#made-of")],
        "result": [_id("results.db")], "location": _id(f"#host-{result.get('host')}"),
    }  # fmt: skip
