#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Software bill of materials (SPDX 2.3, JSON) of an installed Umwelt: which Debian packages its programs and libraries
are linked with, and what has become part of them. Versions are those installed here.

usage: sbom.py PREFIX [--version VERSION]
"""

import argparse
import datetime
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# What has become part of Umwelt's own files: package, how it got there
COMPILED_IN = {
    "node-d3": "in the page of reports (bin/umwelt)",
    "libopenmpi-dev": "source of the components in lib/umwelt/openmpi",
}
OURS = "SPDXRef-umwelt"


class Failure(Exception):
    pass


def output(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)}: expected exit code 0, got {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def programs_of(prefix):
    found = [path for path in sorted(prefix.rglob("*")) if path.is_file() and not path.is_symlink()
             and path.open("rb").read(4) == b"\x7fELF"]  # fmt: skip
    if not found:
        raise Failure(f"{prefix}: expected an installed Umwelt, got no program or library. Next step: cmake --install")
    return found


def linked(path, directories):
    """Files that ld.so would load, but for those of the installation itself."""
    environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(directories)}
    text = output("ldd", str(path), env=environment)
    if missing := re.findall(r"(\S+) => not found", text):
        raise Failure(f"{path}: expected what it is linked with, got nothing for {', '.join(missing)}")
    return re.findall(r"(?:=> )?(/\S+) \(0x", text)


@functools.cache  # most libraries are those of all programs, and dpkg reads its whole database each time
def package_of(path):
    """Name of the package that has the file."""
    for name in (path, os.path.realpath(path), re.sub(r"^/lib", "/usr/lib", path), re.sub(r"^/usr/lib", "/lib", path)):
        done = subprocess.run(["dpkg", "-S", name], capture_output=True, text=True, check=False)
        # In between "diversion by libc6 from: ..." (Debian 13, of ld.so)
        if found := re.search(r"^(?!diversion by )(\S+?),? .*$", done.stdout, re.MULTILINE):
            return found.group(1).removesuffix(":")
    raise Failure(f"{path}: expected a file of a Debian package, got none that dpkg knows")


def licences(package):
    """What its copyright file names, if that is machine-readable: not which of them holds for what is linked."""
    file = pathlib.Path("/usr/share/doc") / package.split(":")[0] / "copyright"
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    if not text.startswith("Format:"):
        return {}
    names = sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE)))
    return {"licenseComments": "Licences that its copyright file names: " + "; ".join(names)}


def describe(package, comment):
    version, source, homepage = output(
        "dpkg-query", "--show", "--showformat=${Version}\\n${source:Package}\\n${Homepage}", package).split("\n")
    name = package.split(":")[0]
    return {
        "name": name, "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "versionInfo": version,
        "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION", "supplier": "Organization: Debian",
        **licences(package), **({"homepage": homepage} if homepage else {}),
        "comment": comment,
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{source}@{version}"}],
    }  # fmt: skip


def bill(prefix, version):
    programs = programs_of(prefix)
    directories = sorted({str(path.parent) for path in programs})
    users = {}  # package: names of what is linked with it
    for path in programs:
        for library in linked(path, directories):
            if not pathlib.Path(library).resolve().is_relative_to(prefix):
                users.setdefault(package_of(library), set()).add(str(path.relative_to(prefix)))
    packages, relations = [], []
    for package, names in sorted(users.items()):
        packages.append(describe(package, "linked with " + ", ".join(sorted(names))))
        relations.append((packages[-1]["SPDXID"], "DYNAMIC_LINK"))
    for package, how in COMPILED_IN.items():
        packages.append(describe(package, how))
        relations.append((packages[-1]["SPDXID"], "CONTAINS"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in programs)).hexdigest()
    own = {
        "name": "umwelt", "SPDXID": OURS, "versionInfo": version, "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "LGPL-2.1-or-later", "licenseDeclared": "LGPL-2.1-or-later",
        "copyrightText": "NOASSERTION",
        "comment": "lib/umwelt/umwelt-calibrate is linked with libgsl, GPL-3.0-or-later",
    }  # fmt: skip
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"umwelt-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/umwelt-{version}-{digest}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: umwelt-ci/package/sbom.py"],
        },
        "packages": [own, *packages],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": OURS},
            *({"spdxElementId": OURS, "relationshipType": kind, "relatedSpdxElement": package}
              for package, kind in relations),
        ],
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", metavar="PREFIX", type=pathlib.Path)
    parser.add_argument("--version", default="0.1.0")
    options = parser.parse_args()
    print(json.dumps(bill(options.prefix.resolve(), options.version), indent=1))


if __name__ == "__main__":
    try:
        main()
    except (Failure, OSError) as failure:
        print(f"sbom.py: {failure}", file=sys.stderr)
        sys.exit(2)
