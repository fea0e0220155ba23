# SPDX-License-Identifier: MIT
"""Compares libraries relative to a common denominator."""
import math

from .reports import MODULUS, find

LIBRARIES = ("anydml", "torch", "cupy")
PEERS = ("numpy", "torch")
GROUPS = (("element by element", lambda case: case["directml_operator"].startswith("ELEMENT_WISE_")),
          ("activations", lambda case: case["directml_operator"].startswith("ACTIVATION_")),
          ("casts", lambda case: case["directml_operator"] == "CAST"),
          ("reductions, against a pass that only reads", lambda case: case["layout"] in ("inner", "outer", "whole")),
          ("fills, against a pass that only writes", lambda case: case["directml_operator"].startswith("FILL_")))


def geometric_mean(values):
    return math.exp(sum(math.log(value) for value in values) / len(values))


# ---- A GPU ----------------------------------------------------------------------------------------------------------

def gpu_cases(own, peers):
    """{(library, type, operator, layout, data): case} from the reports of one GPU."""
    cases = {}
    for report in (*own, *peers):
        for case in report["cases"]:
            key = case.get("peer", "anydml"), case["type"], case["operator"], case["layout"], case["data"]
            cases[key] = case
    return cases


def best_pass(cases, name, layout):
    """The common denominator: the highest GB/s at which any library moved the bytes of a type and layout. Some reports
    contain fractions only in whole percent. The pass computed from large fractions is then off by less than a percent,
    and averaging a library's cases reduces the error."""
    best = 0
    for library in LIBRARIES:
        passes = [case["gb_per_second"] / case["fraction"] for key, case in cases.items()
                  if key[0] == library and key[1] == name and key[3] == layout and "gb_per_second" in case
                  and case["fraction"] >= 0.65]
        best = max([best, *([sum(passes) / len(passes)] if passes else [])])
    return best


def gpu_fraction(cases, key):
    """Returns the fraction of the best pass, or None if the case has no GB/s."""
    case = cases.get(key)
    best = best_pass(cases, key[1], key[3])
    return case["gb_per_second"] / best if case and best and "gb_per_second" in case else None


# ---- Every operator on CPUs -----------------------------------------------------------------------------------------

def has_every_operator(report):
    return (report["program"] == "anydml-bench" and report["machine"]["threads"] > 0
            and len({case["operator"] for case in report["cases"]}) > len(MODULUS))


def operator_cases(report):
    """{(operator, layout): {type: case}} for the largest size measured."""
    cases = [case for case in report["cases"] if case["data"] == "ordinary"
             and case["layout"] in ("tensor", "inner", "outer", "whole")]
    others = [case for case in cases if case["operator"] not in MODULUS]
    size = max(others, key=lambda case: case["elements"])["size"]
    found = {}
    for case in cases:
        if case["size"] == size:
            found.setdefault((case["operator"], case["layout"]), {})[case["type"]] = case
    return found


def operator_lines(reports):
    """Returns [(group, [(operator, layout)])] for all reports combined. The layouts of a reduction are adjacent."""
    groups = []
    for title, belongs in GROUPS:
        keys = {}
        for report in reports:
            for key, cells in operator_cases(report).items():
                if belongs(next(iter(cells.values()))):
                    keys[key] = None
        order = {name: position for position, name in enumerate(dict.fromkeys(operator for operator, _ in keys))}
        if keys:
            groups.append((title, sorted(keys, key=lambda key: order[key[0]])))
    return groups


def peers_of(report, all_peers):
    """{(peer, type, operator, layout): time relative to anydml's} on the same machine with the same number of
    threads."""
    machine = report["machine"]
    ratios = {}
    for peers in all_peers:
        if peers["program"] != "peers.py" or peers["cpu"] != machine["cpu"]:
            continue
        rows = find(peers["times"], threads=machine["threads"], data="ordinary")
        own = {(row["type"], row["operator"], row["layout"]): row["ns_per_element"]
               for row in find(rows, peer="anydml")}
        for row in rows:
            key = row["type"], row["operator"], row["layout"]
            if row["peer"] in PEERS and key in own:
                ratios[row["peer"], *key] = row["ns_per_element"] / own[key]
    return ratios


def means(cells, ratios, operator, layout):
    """Returns the fraction of the pass that anydml and each peer reach: the geometric mean over the types that every
    library with the operator supports. A peer's fraction is anydml's fraction divided by the ratio of their times in
    the same run, so that all fractions have the same denominator."""
    by_peer = {peer: {name: ratios[peer, name, operator, layout] for name in cells
                      if (peer, name, operator, layout) in ratios} for peer in PEERS}
    by_peer = {peer: of for peer, of in by_peer.items() if of}
    if not by_peer:
        return {}
    common = [name for name in cells if all(name in of for of in by_peer.values())]
    if not common:
        return {}
    own = [cells[name]["fraction"] for name in common]
    found = {"anydml": geometric_mean(own)}
    for peer, of in by_peer.items():
        found[peer] = geometric_mean([cells[name]["fraction"] / of[name] for name in common])
    return found


def has_wrong_answers(all_peers, peer, operator):
    return any(row["wrong"] for peers in all_peers for row in find(peers["wrong"], peer=peer, operator=operator))


def differs(all_peers, peer, operator, layout):
    """Whether the peer's results for some type clearly differ from anydml's, because it computes something
    different."""
    return any(entry.split()[0] == peer and entry.split()[2:] == [operator, layout]
               for peers in all_peers for entry in peers.get("differing", []))
