#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the benchmark runs, finds nothing wrong and writes the JSON that plot.py reads. No check depends on
timing.

usage: smoke.py DMLRUN FOLDER [PLUGINS]      PLUGINS: the folder of the tests' device, which has its own memory
"""
import json
import math
import os
import subprocess
import sys
from pathlib import Path

TYPES = ["FLOAT32", "FLOAT16", "FLOAT64", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64"]
OPERATORS = ["modulus_floor", "modulus_truncate"]
LAYOUTS = ["tensor", "scalar", "dividend", "row", "transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8",
           "inplace"]
STRIDED = ["transposed", "stride2", "stride2_all", "rows7", "rows1000", "dims8"]


def run(program, folder, *options, status=0, environment=None):
    file = folder / "smoke.json"
    file.unlink(missing_ok=True)
    command = [program, "bench", *options, "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    assert done.returncode == status, f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(file.read_text()) if status == 0 and file.exists() else done


def check_case(case):
    assert case["name"] == "/".join(case[key] for key in ("type", "operator", "layout", "size", "data")), case["name"]
    for key in ("ns_per_element", "gb_per_second", "pass_gb_per_second", "fraction"):
        assert math.isfinite(case[key]) and case[key] > 0, (case["name"], key)
    for timing in (case["kernel"], case["pass"]):
        assert 0 < timing["min_s"] <= timing["median_s"] and timing["rounds"] >= 3, case["name"]
    # These are the definitions in the legend.
    assert math.isclose(case["fraction"], case["pass"]["median_s"] / case["kernel"]["median_s"]), case["name"]
    assert math.isclose(case["ns_per_element"], case["kernel"]["median_s"] * 1e9 / case["elements"]), case["name"]
    assert math.isclose(case["gb_per_second"], case["bytes"] / case["kernel"]["median_s"] * 1e-9), case["name"]
    assert math.isclose(case["pass_gb_per_second"], case["bytes"] / case["pass"]["median_s"] * 1e-9), case["name"]
    assert ("factor" in case) == (case["layout"] in STRIDED), case["name"]
    assert case["checked"] > 0 and case["wrong"] == 0, case.get("first_wrong")


def check_other_operators(program, folder, short):
    """Checks one row for each kind of memory traffic, and then every row once."""
    report = run(program, folder, *short, "--sizes", "5000", "--operators",
                 "ELEMENT_WISE_ADD,if,cast_float64,LOGICAL_EQUALS,relu,reduce_sum,argmax,FILL_VALUE_SEQUENCE",
                 "--types", "FLOAT32,INT8", "--layouts", "all")
    sizes = {"add": 12, "if": 13, "cast_float64": 12, "logical_equals": 9, "relu": 8, "fill_value_sequence": 4}
    for case in report["cases"]:
        check_case(case)
        if case["type"] == "FLOAT32" and case["layout"] == "tensor":
            assert case["bytes"] == sizes[case["operator"]] * case["elements"], case
        if case["operator"] in ("reduce_sum", "argmax"):
            assert case["layout"] in ("inner", "outer", "whole") and case["bytes"] >= case["elements"], case
    layouts = {}
    for case in report["cases"]:
        layouts.setdefault((case["operator"], case["type"]), []).append(case["layout"])
    fits = [layout for layout in LAYOUTS if layout != "dims8"]  # this layout needs more elements
    assert layouts["add", "FLOAT32"] == fits, layouts["add", "FLOAT32"]
    assert layouts["relu", "INT8"] == [one for one in fits if one not in ("scalar", "dividend", "row")]
    assert layouts["logical_equals", "FLOAT32"] == [one for one in fits if one != "inplace"]
    assert layouts["reduce_sum", "FLOAT32"] == layouts["argmax", "INT8"] == ["inner", "outer", "whole"]
    assert layouts["fill_value_sequence", "INT8"] == ["tensor", "stride2_all", "rows7", "rows1000"]

    every = run(program, folder, *short, "--sizes", "1000", "--operators", "all", "--layouts", "tensor,inner")
    for case in every["cases"]:
        check_case(case)
    listed = subprocess.run([program, "bench", "--list-operators"], capture_output=True, text=True, check=True)
    rows = {line.split()[0]: line.split()[1:] for line in listed.stdout.splitlines()}
    built = subprocess.run([program, "operators", "--built", "--json"], capture_output=True, text=True, check=True)
    names = {one["name"] for one in json.loads(built.stdout)}
    seen = {case["directml_operator"] for case in every["cases"]}
    # Rows that share another row's kernels exist too, but "all" leaves them out.
    assert seen <= names and {"ELEMENT_WISE_ADD", "CAST", "REDUCE", "ARGMIN", "FILL_VALUE_CONSTANT"} <= seen
    assert {"add1", "clip1", "activation_identity"} <= set(rows), set(rows)
    assert {(case["operator"], case["type"]) for case in every["cases"]} <= {
        (name, one) for name, types in rows.items() for one in types}
    left = [line for line in listed.stderr.splitlines()
            if "is not implemented yet" not in line and "supports only" not in line]
    assert not left, left  # lines like these report an attribute without a default (tools/bench/operators.cpp)


def check_words(program):
    """Checks that the table is explained, and that impossible fractions have a warning."""
    done = subprocess.run([program, "bench", "--quick", "--min-time", "0.0001", "--sizes", "16", "--types", "INT8"],
                          capture_output=True, text=True, check=True).stdout
    assert "at 100 % the operator is as fast as the pass" in done and "or one if that is faster" in done, done
    doubtful = [line for line in done.splitlines() if " % " in line + " " and line.startswith("INT8")
                and float(line.split(" %")[0].split()[-1]) > 116]
    assert all("ABOVE THE PASS" in line for line in doubtful), done
    assert not doubtful or "of the pass's speed. The pass should be faster" in done, done


def check_device(program, folder, short, plugins):
    report = run(program, folder, *short, "-a", "later", "--sizes", "9000", "--types", "FLOAT32,INT8", "--operators",
                 "modulus_floor,add,if,cast_int8,fill_value_sequence,quantized_linear_add,reduce_sum",
                 "--layouts", "tensor,scalar,transposed,inner", environment={"ANYDML_PLUGINS": plugins})
    for case in report["cases"]:
        check_case(case)
    seen = {case["operator"] for case in report["cases"]}
    assert len(seen) == 6 and "reduce_sum" not in seen, seen  # reductions are measured only on CPUs


def main(program, folder, plugins=None):
    short = ("--quick", "--min-time", "0.0001")
    report = run(program, folder, *short, "--layouts", "all", "--sizes", "10000", "--data", "all")
    assert report["program"] == "anydml-bench" and report["schema"] == 1
    assert report["others_busy_cores"] >= 0 and report["is_busy"] in (False, True)
    assert report["machine"]["threads"] >= 1 and report["machine"]["target"] and report["machine"]["cpu"]
    for case in report["cases"]:
        check_case(case)
    seen = {case["name"] for case in report["cases"]}
    expected = {f"{a}/{b}/{c}/10000/{d}" for a in TYPES for b in OPERATORS for c in LAYOUTS for d in ("ordinary", "hard")}
    assert seen == expected and len(report["cases"]) == len(seen), seen ^ expected
    small = run(program, folder, *short, "--layouts", "all", "--sizes", "100", "--types", "FLOAT32,INT8")
    for case in small["cases"]:
        check_case(case)
    assert {case["layout"] for case in small["cases"]} == set(LAYOUTS) - {"dims8", "rows1000"}  # these need more

    gaps = run(program, folder, *short, "--sizes", "1000", "--data", "gap:0,gap:7,gap:29,gap:252,gap:2045")
    for case in gaps["cases"]:
        check_case(case)
    seen = {(case["type"], case["gap"]) for case in gaps["cases"]}
    assert seen == {("FLOAT16", 0), ("FLOAT16", 7), ("FLOAT16", 29), ("FLOAT32", 0), ("FLOAT32", 7), ("FLOAT32", 29),
                    ("FLOAT32", 252), ("FLOAT64", 0), ("FLOAT64", 7), ("FLOAT64", 29), ("FLOAT64", 252),
                    ("FLOAT64", 2045)}, seen

    check_words(program)
    check_other_operators(program, folder, short)
    if plugins:
        check_device(program, folder, short, plugins)

    latency = run(program, folder, *short, "--latency")
    assert {"modulus_floor", "compiled_run"} <= {one["name"] for one in latency["latency"]}
    assert all(0 < one["min_ns"] <= one["median_ns"] for one in latency["latency"])

    scaling = run(program, folder, *short, "--scaling", "--types", "FLOAT32,INT8", "--sizes", "100000")
    assert len(scaling["scaling"]) == 4 and not scaling["cases"]
    assert all([point["threads"] for point in one["points"]] == [1, 2] for one in scaling["scaling"])

    for wrong in (("--types", "FLOAT8"), ("--operators", "addition"), ("--layouts", "inner"), ("--rounds", "2"), ("--sizes", "0"), ("--data", "gap:-1"), ("--threads", "0"), ("--filter", "("),
                  ("--filter", "nothing has this name"), ("--unknown",)):
        run(program, folder, *wrong, status=2)
    print(f"{len(report['cases']) + len(gaps['cases'])} cases, none wrong")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
