"""The claims as data: complete, closed, with the ids of their specification."""

import ast
import re
from functools import cache

import pytest
import sympy as sp

from bounds.language import operators as language
from bounds.language.claim import Assumption, Claim, Condition, Variable, by_id, names_in
from bounds.language.definitions import DEFINITIONS, define
from bounds.language.names import row_of
from bounds.registry.claims import ALIASES, all_claims, find_claim
from bounds.registry.papers import PAPERS, files_of
from tests import ROOT
from tests.bounds.each_claim import each_claim
from tests.not_empty import if_any, not_empty

CLAIMS = list(all_claims().values())
IDS = [c.id for c in CLAIMS]
ASSUMPTIONS = {f"{row['owner']}/{row['id']}" for row in files_of("fedalign").vocabulary.assumptions.values()}
COVERAGE = ROOT / "docs" / "coverage.md"

#: block ids of the specification: numbered results, prose, base results, proof steps, derived statements
BLOCKS = {
    "fedalign": """
        theorem-1 theorem-A9 lemma-A2 lemma-A3 lemma-A4 lemma-A5 lemma-A5-per-client lemma-A6 lemma-A7 lemma-A8 eq-4
        claim-matching-rule claim-theta-range claim-theta-decreases claim-zero-epsilon-algorithm
        claim-zero-epsilon-theta claim-zero-epsilon-rho claim-recovers-li2020 claim-rate claim-opposite claim-decay-epsilon
        claim-arbitrary-participation claim-without-replacement
        step-eq15 step-eq16 step-update-identity step-eq37 step-cross-term step-eq39 step-eq41
        step-T1 step-T2 step-T3 step-T3-as-printed step-T4 step-T5 step-T6 step-T7
        step-eq44-as-printed step-T8 step-eq46 step-eq47-as-printed step-T9 step-T10 step-T11 step-T12 step-T13 step-T14
        step-T15 step-T15-shift step-T16 step-T17 step-eq34 step-T18 step-T19 step-eq35-as-printed step-T20 step-eq36
        step-eq36-as-printed step-T21 step-T22 step-eq59
        derived-recursion derived-theorem-1 derived-theorem-A9 derived-theorem-1-warmup derived-sharp
        derived-sharp-refined derived-initial-term derived-sampling-variance derived-static-bias derived-stop-inclusion
        derived-inclusion-rule derived-ball""",
    "li2020": """
        theorem-1 theorem-1-later theorem-1-self-consistent theorem-2 theorem-3 theorem-4
        lemma-1 lemma-2 lemma-3 lemma-4 lemma-5-scheme-1 lemma-5-scheme-2""",
}
#: blocks of the specification that are no claims; docs/coverage.md says why
NOT_CLAIMS = ["conjecture-matched-error", *(f"exp-fig{n}" for n in range(1, 7)), *(f"exp-q{n}" for n in range(1, 9))]
ASSUMPTION_BLOCKS = [
    *(f"assumption-{n}" for n in range(1, 5)),
    *(f"implicit-{name}" for name in ("nonanticipating", "independence", "divisible", "schedule")),
]
READINGS = {
    "fedalign/theorem-1": """
        G-trajectory-max G-trajectory-all G-a-priori local-at-aggregation local-at-aggregation+G-trajectory-max
        local-at-aggregation+G-trajectory-all local-at-aggregation+G-a-priori local-every-step
        local-every-step+G-trajectory-max local-every-step+G-trajectory-all local-every-step+G-a-priori
        assumptions-as-printed G-everywhere""",
    "fedalign/theorem-A9": """
        G-trajectory-max G-trajectory-all G-a-priori G-where-used virtual-average every-free-client 56-literal""",
    "fedalign/lemma-A4": "as-printed",
    "fedalign/lemma-A5-per-client": "tight",
    "fedalign/lemma-A6": "as-printed",
    "fedalign/lemma-A7": "every-free-client 56-literal",
    "fedalign/lemma-A8": """
        schedule step-before step-before+schedule noise-averaged noise-averaged+schedule noise-averaged+step-before
        noise-averaged+step-before+schedule""",
    "fedalign/step-update-identity": "local-at-aggregation local-every-step",
    "fedalign/step-cross-term": "local-at-aggregation local-at-aggregation+round-before local-every-step",
    "fedalign/step-eq46": """
        sharp convexity a b free-clients free-clients+sharp free-clients+convexity free-clients+a free-clients+b""",
    "fedalign/step-T15": "SCHED8",
    "fedalign/step-T15-shift": "SCHED8 first-step first-step+SCHED8",
    "fedalign/claim-zero-epsilon-algorithm": "non-strict",
    "fedalign/claim-opposite": "theta theta-one-round bias",
    "li2020/theorem-2": "later self-consistent",
    "li2020/theorem-3": "later self-consistent",
    "li2020/lemma-4": "scheme-2",
}


# what is there -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("paper", BLOCKS)
def test_blocks_are_those_of_the_specification(paper):
    assert {c.block for c in CLAIMS if c.paper == paper} == {f"{paper}/{b}" for b in BLOCKS[paper].split()}


@pytest.mark.parametrize("paper", BLOCKS)
def test_the_first_reading_carries_the_block_s_id(paper):
    assert {f"{paper}/{b}" for b in BLOCKS[paper].split()} <= set(IDS)


@pytest.mark.parametrize("block", READINGS)
def test_every_listed_reading_is_there(block):
    assert {c.id for c in CLAIMS if c.block == block} == {block, *(f"{block}@{r}" for r in READINGS[block].split())}


@pytest.mark.parametrize("block", ASSUMPTION_BLOCKS)
def test_assumption_blocks_are_assumptions(block):
    text = COVERAGE.read_text(encoding="utf-8")
    assert any(a.split("@")[0] == f"fedalign/{block}" for a in ASSUMPTIONS) or f"`fedalign/{block}`" in text


def test_steps_are_claims():
    assert [(c.id, step) for c in not_empty(CLAIMS) for step in c.steps if step not in IDS] == []


def test_coverage_explains_what_is_left_open():
    text = COVERAGE.read_text(encoding="utf-8")
    open_ids = [f"fedalign/{b}" for b in NOT_CLAIMS] + [
        c.id for c in CLAIMS if c.paper in BLOCKS and (not c.explicit or c.undefined)]
    assert [i for i in not_empty(open_ids) if f"`{i}`" not in text] == []


def test_coverage_names_only_what_exists():
    named = set(re.findall(r"`((?:fedalign|li2020)/[^`]+)`", COVERAGE.read_text(encoding="utf-8")))
    known = {*IDS, *ASSUMPTIONS, *ALIASES, *(f"fedalign/{b}" for b in NOT_CLAIMS + ASSUMPTION_BLOCKS)}
    assert named - known == set()


# each claim --------------------------------------------------------------------------------------------------------------
@cache
def _own_symbols(paper):
    """The names of the symbols that a paper adds: those with a domain in its files."""
    return set(files_of(paper).vocabulary.symbols)


def _conditions(claim):
    """Statement, hypotheses and what assumptions print besides."""
    printed = [c for a in claim.assumptions for c in (a.for_all_functions, a.everywhere) if c is not None]
    return [*claim.hypotheses, *printed, *([claim.statement] if claim.statement else [])]


def _expressions(claim):
    for condition in _conditions(claim):
        yield from (condition.left, condition.right)
        yield from (part for triple in condition.over for part in triple)
    yield from (d.formula for d in claim.used_definitions().values())


@each_claim(CLAIMS)
def test_every_name_means_something(claim):
    known = {v.name for v in claim.variables} | set(claim.definitions) | set(claim.constants) | _own_symbols(claim.paper)
    known |= {size for v in claim.variables for _, size in v.indices} | ({claim.exists.name} if claim.exists else set())
    known |= {str(triple[0]) for c in _conditions(claim) for triple in c.over}
    known |= {str(limit[0]) for e in _expressions(claim) for s in e.atoms(sp.Sum, sp.Product) for limit in s.limits}
    known |= {str(index) for d in claim.used_definitions().values() for index in d.indices}
    unknown = {n for e in _expressions(claim) for n in names_in(e)} - known
    assert {n for n in unknown if row_of(n) is None} == set()


PARSED: set = set()


@each_claim(CLAIMS)
def test_formulas_parse_as_python(claim):
    for expression in _expressions(claim):
        if expression not in PARSED:
            ast.parse(str(expression), mode="eval")
            PARSED.add(expression)


@each_claim(CLAIMS)
def test_indices_are_bound(claim):
    indices = {"i", "j", "k", "t"}
    for condition in if_any(_conditions(claim)):
        bound = {str(triple[0]) for triple in condition.over}
        assert (names_in(condition.left) | names_in(condition.right)) & indices <= bound, condition
    for definition in if_any(claim.used_definitions().values()):
        of_words = {str(word.args[word.binds]) for word in definition.formula.atoms(language.FurtherOperator)
                    if word.binds is not None}
        assert names_in(definition.formula) & indices <= of_words | set(map(str, definition.indices)), definition.name


@each_claim([c for c in CLAIMS if c.setting == "run"])
def test_runs_say_which_algorithm(claim):
    assert claim.procedure is not None
    sampled = {"participants", "sampling", "scheme_1_noise", "scheme_2_noise"}
    if claim.statement is not None and names_in(claim.statement.right) & sampled:
        everyone = "everyone" in claim.id.partition("@")[2].split("+")  # all clients take part: participants is their number
        assert everyone or claim.procedure.sampling != "full"


@each_claim(CLAIMS)
def test_hidden_constants_make_a_claim_inexplicit(claim):
    assert claim.explicit == (not any(v.domain.startswith("hidden") for v in claim.variables))


@each_claim(CLAIMS)
def test_formulas_are_simplified_by_no_more_than_the_domains_say(claim):
    """At 0 too; the papers' positive symbols of numbers that may be 0 stand in polynomials and below fractions alone."""
    symbols = {s for e in _expressions(claim) for s in sp.sympify(e).atoms(sp.Symbol)}
    for v in if_any(claim.variables):
        whole = "is_positive" if v.low < 1 else ""
        sign = {"integer": whole, "real": "is_nonnegative", "binary": "is_positive"}.get(v.domain)
        assert not [s for s in symbols if s.name == v.name and sign and getattr(s, sign)], v


@each_claim(CLAIMS)
def test_algebra_speaks_of_its_variables_alone(claim):
    if claim.setting == "algebra":
        runs = {"x", "x_sampled", "x_local", "g", "included", "F_star", "client_weight", "priority", "x_star"}
        assert not {n for e in _expressions(claim) for n in names_in(e)} & runs
        assert claim.definitions == {} and claim.assumptions == ()


def test_no_claim_carries_a_verdict():
    words = re.compile(r"refut|certified|consistent(?! form)|ill-posed|counterexample|\bholds?\b|\bfails?\b|\bfalse\b")
    fields = ("reading", "note", "number", "undefined")
    found = [(c.id, f) for c in CLAIMS for f in fields if words.search(getattr(c, f).replace("self-consistent", ""))]
    assert found == [("fedalign/lemma-A4", "note"), ("fedalign/lemma-A4@as-printed", "note")]  # t - tau(t) <= E - 1


# the machinery -----------------------------------------------------------------------------------------------------------
def test_alias():
    assert find_claim("fedalign/theorem-A1").id == "fedalign/theorem-1"
    assert find_claim("fedalign/theorem-A1@G-a-priori").id == "fedalign/theorem-1@G-a-priori"
    assert set(ALIASES.values()) <= set(IDS)


def test_unknown_claim_suggests_the_nearest():
    with pytest.raises(LookupError, match="unknown claim 'fedalign/theorem-2'; nearest: fedalign/theorem-1"):
        find_claim("fedalign/theorem-2")


def test_two_claims_of_one_id_are_refused():
    with pytest.raises(ValueError, match=r"two .*'fedalign/theorem-1'"):
        by_id([find_claim("fedalign/theorem-1")] * 2)


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Condition(1, "!=", 2), "unknown relation '!='; allowed: <=, ==, >=, <, >"),
    (lambda: Variable("x", "complex"), "unknown domain 'complex'; allowed: positive"),
    (lambda: Claim("p/a", "1", "joke", "run", Condition(1, "==", 1), source="p"), "unknown kind 'joke'"),
    (lambda: Claim("p/a", "1", "lemma", "dream", Condition(1, "==", 1), source="p"), "unknown setting 'dream'"),
    (lambda: Claim("p/a", "1", "lemma", "run", None, source="p"), "p/a: .*statement .*undefined"),
    (lambda: Claim("p/a", "1", "lemma", "run", Condition(1, "==", 1)), "p/a: .*source .*derived"),
    (lambda: define("chi", [], 1, "", "", ""), "'chi' .*twice"),
])
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_constants_are_what_hypotheses_bind():
    assert find_claim("fedalign/theorem-1@G-a-priori").constants == (
        "L", "mu", "sigma_sq", "noise_bound", "optimum_gradient_bound", "ball_radius", "G_sq", "step_offset", "eta_l",
    )


def test_used_definitions_follow_definitions():
    assert set(find_claim("fedalign/claim-theta-range").used_definitions()) == {"theta", "chi", "free_mass"}


def test_assumptions_of_claims_are_registered():
    used: set[Assumption] = {a.id for c in CLAIMS if c.paper in BLOCKS for a in c.assumptions}
    assert used <= ASSUMPTIONS


def test_modules_hold_claims_of_their_paper():
    assert {c.paper for c in CLAIMS} == set(PAPERS)
    assert {d.name for d in DEFINITIONS.values()} == set(DEFINITIONS)
