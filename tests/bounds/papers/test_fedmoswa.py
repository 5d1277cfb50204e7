"""The claims of FedSWA and FedMoSWA: complete, each the paper's formula, written in its letters and units."""

from __future__ import annotations

import pytest
import sympy as sp

from bounds.formulas.units import BASE
from bounds.language import functions
from bounds.language import words as language
from bounds.language.claim import names_in
from bounds.language.definitions import DEFINITIONS
from bounds.papers.fedmoswa import words as own_words
from bounds.papers.fedmoswa.assumptions import ASSUMPTIONS
from bounds.papers.fedmoswa.notation import LETTERS, UNITS
from bounds.printing.render import condition_latex, condition_text, letters_of, show
from bounds.registry.claims import all_claims
from bounds.registry.papers import modules_of
from fedtheory import find_algorithm
from tests import ROOT
from tests.bounds.claim_values import same
from tests.bounds.papers.fedmoswa_round_rows import CONVEX, MEANINGS, NONCONVEX
from tests.bounds.papers.fedmoswa_rows import LEMMAS, MAIN, ROUNDS, TOOLS, P
from tests.bounds.papers.fedmoswa_step_rows import MOSWA, POINTS, SWA, VALUES
from tests.bounds.papers.fedmoswa_world import SIZES, World, values
from verify.report.mathml import mathml

CLAIMS = {i.partition("/")[2]: c for i, c in all_claims().items() if c.paper == "fedmoswa" and not c.compares}
STATED = {i: c for i, c in CLAIMS.items() if c.statement is not None}
COVERAGE = ROOT / "docs" / "coverage.md"

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    lemma-4.1-stability theorem-5.1-strongly-convex-fedswa theorem-5.1-strongly-convex-fedmoswa
    theorem-5.1-nonconvex-fedswa theorem-5.1-nonconvex-fedmoswa theorem-5.2-strongly-convex theorem-5.2-nonconvex
    explicit-5.2-strongly-convex explicit-5.2-nonconvex explicit-5.2-nonconvex-tuned
    table-1-gen-fedsam table-1-gen-mofedsam table-1-gen-fedswa table-1-gen-fedmoswa table-1-opt-fedsam
    table-1-opt-mofedsam table-1-opt-fedswa table-1-opt-fedmoswa text-opt-scaffold table-1-constants
    lemma-d.1-smooth lemma-d.1-strongly-convex lemma-e.1 lemma-e.2 theorem-e.3 lemma-e.4 lemma-e.5 theorem-e.6
    lemma-f.1 lemma-f.2 theorem-f.3-gap theorem-f.3-gen lemma-f.4 lemma-f.5 theorem-f.6
    lemma-g.5 lemma-g.5-explicit lemma-g.6 lemma-g.7 lemma-g.8-mean lemma-g.8-martingale lemma-g.9 lemma-g.10 lemma-g.11
    lemma-g.12 lemma-g.13 lemma-g.14-mean lemma-g.14-second lemma-g.15 lemma-g.16 lemma-g.17 lemma-g.18
    theorem-h.1-constant theorem-h.1-decay lemma-i.1 lemma-i.2 theorem-i.3 app-i-constants
    eq-11 eq-12 eq-13 eq-14 eq-15-unroll eq-15-collect eq-16 eq-17 eq-18 eq-19 eq-20-unroll eq-20-exp eq-21 eq-22-unroll
    eq-22-sum eq-23 eq-24 eq-25 eq-26 eq-27 eq-28 eq-29 eq-30 eq-31 eq-32 stability-to-gen
    eq-33 eq-34 eq-35 eq-36 eq-37 eq-38 eq-39 eq-40 eq-41 eq-42 eq-53 eq-43 eq-45 eq-47 eq-49 eq-50 eq-51 eq-52 eq-54
    g9-variances eq-65 smooth-gap eq-66 eq-68 eq-69 eq-71 eq-72 eq-73 eq-74 eq-75 eq-76 eq-77 g12-k1 mean-update
    perturbed-strong-convexity eq-80 eq-81 eq-82 eq-83 eq-85 g13-step-size
    mean-of-m g14-variances eq-86 eq-88 eq-91 eq-89 eq-89-b eq-93 eq-93-b eq-94 eq-95 eq-95-geometric eq-96 eq-98 eq-99
    eq-100 eq-101 eq-102
    eq-103 eq-104 eq-105 eq-106 eq-107 eq-108 eq-109 eq-110 eq-111 eq-112
    claim-constants-large"""

GEN = "stability parameters fixed-client region"
START = "all-clients start-gradient start-gradient-clients start-free as-proved"
I_1 = "assumptions-2-to-5 plain-step+assumptions-2-to-5"
ONE_ROUND = f"{START} any-state"
#: readings that the specification lists for a block, by the name of what differs from its first ones
READINGS = {
    **dict.fromkeys(("theorem-5.1-strongly-convex-fedswa", "theorem-5.1-nonconvex-fedswa"), f"{GEN} any-server-step"),
    **dict.fromkeys(
        ("theorem-5.1-strongly-convex-fedmoswa", "theorem-5.1-nonconvex-fedmoswa"), f"{GEN} any-server-step fresh"),
    "theorem-5.2-strongly-convex": START, "theorem-5.2-nonconvex": f"table-1 {START}",
    "explicit-5.2-strongly-convex": f"{START} lag-noise lag-total", "explicit-5.2-nonconvex": START,
    "explicit-5.2-nonconvex-tuned": START,
    "table-1-opt-fedsam": "Lipschitz", "table-1-opt-mofedsam": "Lipschitz",
    "lemma-e.1": "b-F1 region", "lemma-e.2": "b-F1 b-tilde-main b-tilde-E1 b-tilde-F1 region", "lemma-e.4": "region",
    "theorem-e.3": f"{GEN} gradient-L b-F1 b-tilde-main b-tilde-E1 b-tilde-F1",
    "theorem-e.6": f"{GEN} gradient-L c-tilde-main",
    "lemma-f.1": "independent-batch bounded-start region", "lemma-f.2": "as-used independent-batch bounded-start region",
    "theorem-f.3-gap": "fixed-client b-tilde-main b-tilde-E1 b-tilde-F1 independent-batch bounded-start region",
    "theorem-f.3-gen": f"{GEN} b-tilde-main b-tilde-E1 b-tilde-F1 independent-batch bounded-start",
    "lemma-f.4": "without-C1 independent-batch bounded-start region",
    "lemma-f.5": "independent-batch bounded-start region",
    "theorem-f.6": f"{GEN} algorithm-1 c-tilde-main c-tilde-with-L c-tilde-proof independent-batch bounded-start",
    "lemma-g.5-explicit": "exponential", "lemma-g.7": "part-2", "lemma-g.8-martingale": "printed",
    **dict.fromkeys(("lemma-g.9", "lemma-g.10", "lemma-g.12"), f"{ONE_ROUND} E0 lag-noise lag-total F-smooth"),
    "lemma-g.11": f"{ONE_ROUND} E0 F-smooth", "lemma-g.13": f"{ONE_ROUND} lag-noise lag-total F-smooth",
    **dict.fromkeys((f"lemma-g.{n}" for n in ("14-mean", "14-second", "15", "16", "17")), f"{ONE_ROUND} E0 F-smooth"),
    "lemma-g.18": f"{ONE_ROUND} F-smooth as-proved+large-server-step", "theorem-h.1-constant": "E0 lag-noise lag-total",
    "theorem-h.1-decay": "printed-rates E0 lag-noise lag-total",
    "lemma-i.1": "proof plain-step region", "lemma-i.2": f"plain-step region {I_1}",
    "theorem-i.3": f"{GEN} gradient-L printed-c plain-step {I_1}",
    "eq-15-unroll": "b-F1 region", "eq-15-collect": "b-F1", "eq-18": "as-27", "eq-20-unroll": "printed-index region",
    "eq-20-exp": "sum",
    "eq-21": "fixed-client region",
    "eq-22-unroll": "as-43 fixed-client region", "eq-22-sum": "as-43", "eq-24": "unrolled",
    "eq-28": "second-line last-line", "eq-29": "sum gap", "eq-30": "printed", "eq-32": "second-inequality",
    "eq-33": "sum sum+theta-l", "eq-34": "second second+theta-l third bounded-start", "eq-35": "first-line",
    "eq-36": "theta-l last 48 48+last", **dict.fromkeys(("eq-38", "eq-39", "eq-49", "eq-50"), "shared"),
    "eq-45": "third-line whole", "eq-51": "last-line independent-batch bounded-start",
    "eq-68": "printed", "eq-75": "unrolled as-proved",
    "eq-76": "first second third", "eq-77": "second printed as-proved", "g12-k1": "E0",
    "mean-update": "change as-proved",
    "eq-83": "lemma-g.10 as-proved", "g13-step-size": "printed lag",
    "mean-of-m": "lag-points mean", "eq-88": "first-line",
    "eq-89": "second second-printed-lag second-printed-factor as-proved",
    "eq-89-b": "inverse step-size power", "eq-93-b": "inverse step-size power", "eq-93": "second as-proved",
    "eq-100": "printed-exponent printed-lag as-proved", "eq-101": "printed as-proved",
    "eq-102": "step-size gradient drift as-proved",
    **dict.fromkeys(("eq-40", "eq-41", "eq-42", "eq-43"), "region independent-batch bounded-start independent-batch+region"),
    **dict.fromkeys(("eq-52", "eq-53", "eq-54"), "independent-batch bounded-start"),
    **dict.fromkeys((f"eq-{n}" for n in (65, 66, 69, 73, 74, 80, 81, 82, 85, 86, 95, 98, 99)), "as-proved"),
    **dict.fromkeys(("eq-103", "eq-105", "eq-106", "eq-107", "eq-108", "eq-109", "eq-110", "eq-111"), "plain-step"),
}


# what is there -------------------------------------------------------------------------------------------------------
def test_blocks_are_those_of_the_specification():
    assert {c.block.partition("/")[2] for c in CLAIMS.values()} == set(BLOCKS.split())
    assert set(BLOCKS.split()) <= set(CLAIMS)


@pytest.mark.parametrize("block", READINGS)
def test_every_listed_reading_is_there(block):
    assert {f"{block}@{name}" for name in READINGS[block].split()} - set(CLAIMS) == set()


def test_a_start_within_a_bound_is_left_to_the_instance():
    """A bound on the variate at the start says nothing of a method that starts from zero."""
    bounded = [c for c in CLAIMS.values() if "bounded-start" in c.id]
    assert len(bounded) > 20 and {dict(c.procedure.options).get("start") for c in bounded} == {"free"}


def test_steps_are_claims():
    ids = set(all_claims())
    assert [(c.id, s) for c in CLAIMS.values() for s in c.steps if s not in ids] == []


def test_methods_take_the_options_that_claims_name():
    for claim in CLAIMS.values():
        if claim.procedure is not None:
            arguments = find_algorithm(claim.procedure.base).arguments
            assert {name for name, _ in claim.procedure.options} <= set(arguments), claim.id


def test_coverage_tells_what_is_hidden_or_undefined():
    text = COVERAGE.read_text(encoding="utf-8")
    open_blocks = {c.block for c in CLAIMS.values() if not c.explicit} | {c.id for c in CLAIMS.values() if c.undefined}
    assert [i for i in sorted(open_blocks) if f"`{i}`" not in text] == []


# formulas ------------------------------------------------------------------------------------------------------------
ROWS = {
    claim_id: row
    for table in (MAIN, LEMMAS, TOOLS, ROUNDS, POINTS, VALUES, SWA, MOSWA, CONVEX, NONCONVEX)
    for ids, row in table.items() for claim_id in ids.split()
}
#: readings that change how names in the formula are read, or only the hypotheses
READ_AS = {
    **{name: {"aliases": {"drift_E1": ("drift_E0", 1, 0)}} for name in ("E0", "as-proved")},
    "lag-total": {"aliases": {"variate_lag": ("variate_lag_total", 1, 0), "variate_lag_after": ("variate_lag_total", 1, 1)}},
    "lag-noise": {"aliases": {"variate_lag": ("variate_lag_noise", 1, 0), "variate_lag_after": ("variate_lag_noise", 1, 1)}},
    "region": {"aliases": {"sigma_g_client": ("sigma_g", 0, 0)}},
    "fixed-client": {"one_client": True},
    **{name: {} for name in (
        "all-clients", "start-gradient", "start-gradient-clients", "start-free", "F-smooth", "large-server-step",
        "printed-rates", "plain-step", "b-F1", "independent-batch", "bounded-start", "without-C1", "algorithm-1",
        "any-server-step", "fresh", "assumptions-2-to-5")},
}
#: what a reading is compared with besides its own change
BASES = {f"theorem-{name}@fixed-client": f"theorem-{name}@parameters" for name in (
    "5.1-strongly-convex-fedswa", "5.1-strongly-convex-fedmoswa", "5.1-nonconvex-fedswa", "5.1-nonconvex-fedmoswa", "e.3",
    "e.6", "f.3-gen", "f.6", "i.3")}
AVERAGES = {
    name: MEANINGS[name] for name in ("drift_E1", "drift_E0", "variate_lag", "variate_lag_after", "server_lag", "point_lag",
                                      "moving_lag")
}


def _transcribed(claim_id, world, index):
    """The row of a claim and the world in which the row is read."""
    if claim_id in ROWS:
        return ROWS[claim_id], world
    base, _, name = claim_id.replace("@", "+").rpartition("+")
    parent = BASES.get(claim_id) or (claim_id[: -len(name) - 1])
    assert base.split("+")[0] == claim_id.split("@")[0]
    row, world = _transcribed(parent, world, index)
    if name == "any-state":
        return row, world.read(given_round=index["r"], meanings=AVERAGES)
    changes = READ_AS[name]
    return row, world.read(**changes | {"aliases": world.aliases | changes.get("aliases", {})})


@pytest.mark.parametrize("claim_id", STATED)
def test_statement_is_the_paper_s(claim_id):
    statement = STATED[claim_id].statement
    for seed in (1, 2):
        world = World(seed)
        in_world = values(world)
        indices = in_world.cases(statement.over)
        for index in indices[:: max(1, len(indices) // 10)]:
            (left, right), read = _transcribed(claim_id, world, index)
            for side, written in ((statement.left, left), (statement.right, right)):
                ours, theirs = in_world.of(side, index), written(P(read, index))
                assert same(ours, theirs), f"seed {seed}, {index}: {ours} and {theirs} for {side}"


def test_orders_hide_absolute_constants():
    """The specification: O(.) hides a constant that is independent of every symbol."""
    orders = [c for c in STATED.values() if not c.explicit]
    assert len(orders) == 25
    for claim in orders:
        assert claim.constants_may_use == ()
        assert {s for s, _ in claim.limits} <= claim.statement.right.free_symbols
        assert {str(s) for s, _ in claim.limits} & {"rounds", "length"}


def test_no_row_is_left_over():
    assert set(ROWS) - set(STATED) == set()


@pytest.mark.parametrize("name", MEANINGS)
def test_definition_is_the_paper_s(name):
    definition, world = DEFINITIONS[name], World(3)
    names = [str(index) for index in definition.indices]
    for numbers in [()] if not names else [(n, 1)[: len(names)] for n in range(4)]:
        index = dict(zip(names, numbers, strict=True))
        assert same(values(world).of(definition.formula, index), MEANINGS[name](world, *numbers)), index


def test_every_definition_used_is_transcribed():
    used = {name for c in CLAIMS.values() for name in c.used_definitions()}
    assert used == set(MEANINGS)


#: what conditions define, with the formulas of the specification's 4.0 and 3.1
def _symbols(w):
    p = P(w, {})
    return {
        "lemma-e.1": ("b", 1 - p.rho * p.eta * p.bmu), "lemma-e.1@b-F1": ("b", p.eta * p.bmu),
        "lemma-f.1": ("b", p.eta * p.bmu),
        "lemma-i.1": ("c_bar", 1 + p.cK * p.beta * p.K * p.eta), "lemma-g.9": ("eta_l", p.ee / (p.K * p.alpha)),
        "lemma-e.4": ("eta_l", p.eta), "eq-89-b": ("b", p.gamma / (2 * (1 - p.gamma))),
        "eq-93-b": ("b", p.w.value("participants") / (2 * (p.m - p.w.value("participants")))),
    }


@pytest.mark.parametrize("claim_id", _symbols(World(5)))
def test_symbols_are_defined_as_printed(claim_id):
    world = World(5)
    name, wanted = _symbols(world)[claim_id]
    found = [c for c in CLAIMS[claim_id].hypotheses if c.relation == "==" and names_in(c.left) & {name}]
    assert len(found) == 1
    assert same(values(world).of(found[0].right, {"t": 0}), wanted)


# names, letters, units -----------------------------------------------------------------------------------------------
WORDS = {name for module in (language, functions, own_words) for name in vars(module)}


def _expressions(claim):
    for condition in [*claim.hypotheses, *([claim.statement] if claim.statement else [])]:
        yield from (condition.left, condition.right)
        yield from (part for triple in condition.over for part in triple)
    yield from (d.formula for d in claim.used_definitions().values())


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_every_name_means_something(claim_id):
    claim = CLAIMS[claim_id]
    known = WORDS | {v.name for v in claim.variables} | set(claim.definitions) | set(claim.constants) | set(SIZES)
    known |= {size for v in claim.variables for _, size in v.indices}
    assert {n for e in _expressions(claim) for n in names_in(e)} - known == set()


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_hyper_parameters_are_bound(claim_id):
    claim = CLAIMS[claim_id]
    bound = {v.name for v in claim.variables} | set(claim.constants)
    names = {n for e in _expressions(claim) for n in names_in(e)}
    assert names & {"eta", "eta_eff", "eta_g", "gamma", "rho_decay", "rho_sam", "b", "c", "c_bar", "power"} <= bound


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_indices_are_bound(claim_id):
    claim = CLAIMS[claim_id]
    for condition in [*claim.hypotheses, *([claim.statement] if claim.statement else [])]:
        bound = {str(triple[0]) for triple in condition.over}
        assert (names_in(condition.left) | names_in(condition.right)) & set("ijkrt") <= bound, condition


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_claims_render(claim_id):
    claim = CLAIMS[claim_id]
    letters = letters_of(claim)
    assert show(claim) and show(claim, "code")
    for condition in [*claim.hypotheses, *([claim.statement] if claim.statement else [])]:
        assert condition_text(condition, letters)
        assert mathml(condition_latex(condition, letters))


def test_letters_and_units_are_there_for_every_name():
    names = {n for c in CLAIMS.values() for e in _expressions(c) for n in names_in(e)} | {
        v.name for c in CLAIMS.values() for v in c.variables}
    names -= {*"ijkrt", "sampling"} | set(DEFINITIONS)
    assert names - set(LETTERS) == set()
    assert names - set(UNITS) - set(BASE) == set()
    assert {n for n in UNITS if n in BASE and tuple(map(int, BASE[n])) != tuple(UNITS[n])} == set()


def test_assumptions_are_registered():
    assert {a.id for c in CLAIMS.values() for a in c.assumptions} <= set(ASSUMPTIONS)
    assert all(a.startswith("fedmoswa/") for a in ASSUMPTIONS)


def test_loading_takes_no_symbolic_work():
    """Statements keep their sums and products as written."""
    assert STATED["eq-22-unroll"].statement.right.atoms(sp.Sum) and STATED["eq-20-unroll"].statement.right.atoms(sp.Product)
    assert all(name.startswith("bounds.papers.fedmoswa.") for name in modules_of("fedmoswa"))
