#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The benchmark runs, finds nothing wrong and writes the JSON that plot.py reads. Nothing here depends on a time.

usage: smoke.py DMLRUN FOLDER
"""
import json
import math
import subprocess
import sys
from pathlib import Path

TYPES = ["FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"]
OPERATORS = ["modulus_floor", "modulus_truncate"]
LAYOUTS = ["tensor", "scalar", "dividend", "transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8",
           "inplace"]
STRIDED = ["transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8"]


def run(program, folder, *options, status=0):
    file = folder / "smoke.json"
    file.unlink(missing_ok=True)
    command = [program, "bench", *options, "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(file.read_text()) if status == 0 and file.exists() else done


def check_case(case):
    assert case["name"] == "/".join(case[key] for key in ("type", "operator", "layout", "size", "data")), case["name"]
    for key in ("ns_per_element", "gb_per_second", "pass_gb_per_second", "fraction"):
        assert math.isfinite(case[key]) and case[key] > 0, (case["name"], key)
    for timing in (case["kernel"], case["pass"]):
        assert 0 < timing["min_s"] <= timing["median_s"] and timing["rounds"] >= 3, case["name"]
    assert math.isclose(case["fraction"], case["pass"]["median_s"] / case["kernel"]["median_s"]), case["name"]
    assert ("factor" in case) == (case["layout"] in STRIDED), case["name"]
    assert case["checked"] > 0 and case["wrong"] == 0, case.get("first_wrong")


def main(program, folder):
    short = ("--quick", "--min-time", "0.0001")
    report = run(program, folder, *short, "--layouts", "all", "--sizes", "100,10000", "--data", "all")
    assert report["program"] == "anydml-bench" and report["schema"] == 1
    assert report["machine"]["threads"] >= 1 and report["machine"]["target"] and report["machine"]["cpu"]
    for case in report["cases"]:
        check_case(case)
    seen = {case["name"] for case in report["cases"]}
    expected = {f"{a}/{b}/{c}/{d}/{e}" for a in TYPES for b in OPERATORS for c in LAYOUTS for d in ("100", "10000")
                for e in ("ordinary", "hard") if d != "100" or c not in ("dims8", "rows1000")}
    assert seen == expected and len(report["cases"]) == len(seen), seen ^ expected

    gaps = run(program, folder, *short, "--sizes", "1000", "--data", "gap:0,gap:7,gap:29,gap:252,gap:2045")
    for case in gaps["cases"]:
        check_case(case)
    seen = {(case["type"], case["gap"]) for case in gaps["cases"]}
    assert seen == {("FLOAT16", 0), ("FLOAT16", 7), ("FLOAT16", 29), ("FLOAT32", 0), ("FLOAT32", 7), ("FLOAT32", 29),
                    ("FLOAT32", 252), ("FLOAT64", 0), ("FLOAT64", 7), ("FLOAT64", 29), ("FLOAT64", 252),
                    ("FLOAT64", 2045)}, seen

    latency = run(program, folder, *short, "--latency")
    assert {"modulus_floor", "compiled_run"} <= {one["name"] for one in latency["latency"]}
    assert all(0 < one["min_ns"] <= one["median_ns"] for one in latency["latency"])

    scaling = run(program, folder, *short, "--scaling", "--types", "FLOAT32,INT8", "--sizes", "100000")
    assert len(scaling["scaling"]) == 4 and not scaling["cases"]
    assert all([point["threads"] for point in one["points"]] == [1, 2] for one in scaling["scaling"])

    for wrong in (("--types", "FLOAT8"), ("--sizes", "0"), ("--data", "gap:-1"), ("--threads", "0"), ("--filter", "("),
                  ("--filter", "nothing has this name"), ("--unknown",)):
        run(program, folder, *wrong, status=2)
    print(f"{len(report['cases']) + len(gaps['cases'])} cases, none wrong")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]))
