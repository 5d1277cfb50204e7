"""Fingerprints change with everything that a verdict depends on, and with nothing else."""

import os
import subprocess
import sys
from dataclasses import fields, replace

import pytest
import sympy as sp

from bounds.controls.fedavg import CONTROLS, TWINS
from bounds.language.claim import Claim, Condition
from bounds.registry.claims import find_claim
from tests.project import packages
from verify.referee.batch import related_at
from verify.results import fingerprint as module
from verify.results.fingerprint import claim_as_text, code_version, deciding_files, digest, fingerprints

SETTINGS = {"budget": "quick", "seeds": 4, "seed": 0, "device": "cpu"}
CLAIM = CONTROLS[0].claim


def fingerprint(claim, settings=SETTINGS, related=()):
    return fingerprints([claim], settings, lambda _: related)[claim.id]


def test_claims_settings_related_claims_and_code_are_told_apart(monkeypatch):
    twin = next(iter(TWINS.values()))
    changed = {
        "itself": (CLAIM,), "its false variant": (twin,),
        "a hypothesis more": (replace(CLAIM, conditions=(*CLAIM.conditions, CLAIM.statement)),),
        "reading": (replace(CLAIM, reading="another"),), "budget": (CLAIM, SETTINGS | {"budget": "standard"}),
        "seed": (CLAIM, SETTINGS | {"seed": 1}), "related": (CLAIM, SETTINGS, [twin]),
        "related, in another reading": (CLAIM, SETTINGS, [replace(twin, reading="another")]),
        "what constants may use": (replace(CLAIM, constants_may_use=("mu",)),),
    }
    marks = {name: fingerprint(*given) for name, given in changed.items()}
    assert len(set(marks.values())) == len(changed) and marks["itself"] == fingerprint(CLAIM, dict(SETTINGS))
    monkeypatch.setattr(module, "code_version", lambda: "other")
    assert fingerprint(CLAIM) != marks["itself"]


#: parts of a claim that only people read, or that say which other claims it is about
NO_EVIDENCE = {"number", "source", "derivation", "note", "steps", "compares"}


def test_every_part_of_a_claim_is_in_its_text_or_no_evidence():
    assert {field.name for field in fields(Claim)} == set(claim_as_text(CLAIM)) | NO_EVIDENCE


@pytest.mark.parametrize("budget, looks", [("quick", False), ("standard", True), ("thorough", True)])
def test_related_claims_count_where_the_search_looks_at_them(budget, looks):
    claim = find_claim("fedalign/theorem-1")
    assert bool(related_at(budget)(claim)) == looks
    assert not related_at(budget)(replace(claim, explicit=False)) and not related_at(budget)(CLAIM)


# the same in every process -----------------------------------------------------------------------------------------------
def condition(left):
    return claim_as_text(replace(CLAIM, statement=Condition(left, "<=", 1)))["statement"]


def test_equal_symbols_that_were_declared_in_other_words_are_the_same():
    one, other = sp.Symbol("q", nonnegative=True), sp.Symbol("q", nonnegative=True, real=True)
    assert one == other and condition(one + 1) == condition(other + 1)
    assert condition(one) != condition(sp.Symbol("q", positive=True)) != condition(sp.Symbol("q"))


def test_the_numbers_of_dummies_do_not_matter():
    def made(names):
        dummies = {name: sp.Dummy(name) for name in names}
        return sp.Max(dummies["b"] * dummies["a"], dummies["b"] ** 2) + dummies["c"]

    first, second = made("abc"), made("cba")
    assert condition(first) == condition(second) and sp.srepr(first) != sp.srepr(second)
    a, b = sp.symbols("a a", cls=sp.Dummy)
    assert condition(a - b**2) == condition(b - a**2) != condition(a - a**2)


def test_arguments_that_commute_have_one_order_and_others_keep_theirs():
    a, b = sp.symbols("a b")
    assert condition(sp.Add(a, b, evaluate=False)) == condition(sp.Add(b, a, evaluate=False))
    assert condition(a**b) != condition(b**a)


@pytest.mark.slow
def test_a_fingerprint_does_not_depend_on_the_process_nor_on_what_was_loaded_before():
    """If FedALIGN is loaded first, sympy answers with symbols that it declared, in formulas of Li et al."""
    code = ("import sys\nfrom bounds.registry.papers import claims_of_paper\n"
            "from verify.results.fingerprint import claim_as_text, digest\n"
            "for paper in sys.argv[1:]: claims = claims_of_paper(paper)\n"
            "print(digest([claim_as_text(claim) for claim in claims.values()]))")
    here = {subprocess.run([sys.executable, "-c", code, *papers, "li2020"], capture_output=True, text=True, check=True,
                           env=os.environ | {"PYTHONHASHSEED": str(number)}).stdout
            for number, papers in enumerate([["classical"], ["fedalign"], []])}
    assert len(here) == 1 and len(here.pop().strip()) == len(code_version())


# the code that decides ---------------------------------------------------------------------------------------------------
#: modules that the referee imports and that decide nothing: they write, print and draw
SHOWING = {
    "bounds.papers", "verify", "verify.results.commands", "verify.results.drawing", "verify.results.figures",
    "verify.results.files", "verify.results.numerals",
}


def deciding():
    paths = set(deciding_files())
    return {name for name, path in packages.files().items() if path in paths}


def reached():
    graph = packages.imports_of_files()
    methods = [name for name in graph if name.startswith("fedtheory.algorithms.")]  # found by name
    return set().union(*(packages.below(graph, start) for start in ["verify.referee.decide", *methods]))


def test_the_code_that_the_referee_runs_is_in_the_fingerprint():
    left_out = {name for name in reached() - deciding() if not name.startswith("bounds.printing.")}
    assert left_out <= SHOWING
    assert "verify.referee.decide" in deciding() and len(deciding()) > 200


def test_what_is_left_out_within_deciding_packages_is_not_run():
    files = {path.relative_to(packages.ROOT).as_posix(): name for name, path in packages.files().items()}
    shows = {files[place] for place in module.SHOWS if place.endswith(".py")}
    assert not shows & reached() and len(shows) == sum(place.endswith(".py") for place in module.SHOWS)


def test_a_claims_own_file_is_not_code():
    assert not any("papers" in path.parts and path.name != "operators.py" for path in deciding_files())
    assert digest({"b": 1, "a": 2}) == digest({"a": 2, "b": 1})
