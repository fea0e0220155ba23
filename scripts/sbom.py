#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a software bill of materials in CycloneDX's JSON format for the files of a release: the files with their SHA-256,
and the components whose code is compiled into them, with the versions that this machine compiles.

usage: sbom.py DIST VERSION NANOBIND [INCLUDE]     NANOBIND: its version; INCLUDE: where the headers are (/usr/include)
"""
import hashlib
import json
import os
import re
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

# name: (license, headers, the pattern of its version)
HEADERS = {
    "fmt": ("MIT", ("fmt/base.h", "fmt/core.h"), r"FMT_VERSION (\d+)"),
    "highway": ("Apache-2.0 OR BSD-3-Clause", ("hwy/base.h", "hwy/highway.h"), r"HWY_(?:MAJOR|MINOR|PATCH) (\d+)"),
    "protozero": ("BSD-2-Clause", ("protozero/version.hpp",), r"PROTOZERO_VERSION_STRING \"([\d.]+)\""),
    "rapidjson": ("MIT", ("rapidjson/rapidjson.h",), r"RAPIDJSON_(?:MAJOR|MINOR|PATCH)_VERSION (\d+)"),
}
ARCHIVES = (".whl", ".deb", ".gz")


def version_of(include, headers, pattern):
    for header in headers:
        path = include / header
        found = re.findall(r"#define " + pattern, path.read_text(encoding="utf-8")) if path.exists() else []
        if not found:
            continue
        if len(found) == 1 and found[0].isdigit():  # fmt: 90100 is 9.1.0
            number = int(found[0])
            return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
        return ".".join(found)
    sys.exit(f"sbom.py: no version in {', '.join(headers)} below {include}")


def component(name, version, license_text, kind="library", **more):
    license_form = {"expression": license_text} if " " in license_text else {"license": {"id": license_text}}
    return {"type": kind, "bom-ref": f"{name}@{version}", "name": name, "version": version, "licenses": [license_form], **more}


def bill(dist, version, nanobind, include):
    files = sorted(path for path in dist.iterdir() if path.suffix in ARCHIVES)
    if not files:
        sys.exit(f"sbom.py: {dist} has no wheels, packages or archives")
    parts = [component(name, version_of(include, headers, pattern), license_text)
             for name, (license_text, headers, pattern) in HEADERS.items()]
    parts.append(component("nanobind", nanobind, "BSD-3-Clause"))
    in_modules = [one["bom-ref"] for one in parts]
    in_libraries = [one["bom-ref"] for one in parts if one["name"] != "nanobind"]
    components, dependencies = list(parts), []
    for path in files:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        components.append({"type": "file", "bom-ref": path.name, "name": path.name, "hashes": [{"alg": "SHA-256", "content": digest}]})
        inside = [] if path.suffix == ".gz" else in_modules if path.name.startswith("anydml-") and path.suffix == ".whl" else in_libraries
        dependencies.append({"ref": path.name, "dependsOn": inside})
    when = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), timezone.utc)
    main = component("anydml", version, "MIT", "library")
    # The same files have the same serial number.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, "anydml " + " ".join(json.dumps(one, sort_keys=True) for one in components))
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1,
            "metadata": {"timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "component": main},
            "components": components,
            "dependencies": [{"ref": main["bom-ref"], "dependsOn": [path.name for path in files]}, *dependencies]}


def main(arguments):
    dist, version, nanobind = Path(arguments[0]), arguments[1], arguments[2]
    include = Path(arguments[3] if len(arguments) > 3 else "/usr/include")
    text = json.dumps(bill(dist, version, nanobind, include), indent=1) + "\n"
    (dist / f"anydml-{version}.cdx.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
