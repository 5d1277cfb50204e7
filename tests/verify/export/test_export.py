"""``fedtheory export``: what is written, what is refused, and what Coq's kernel says of it."""

import random
import re
import shutil
import subprocess
from fractions import Fraction as Q

import pytest

from bounds.registry.claims import all_claims, find_claim
from bounds.registry.user_claims import load_claims
from tests import ROOT
from tests.not_empty import not_empty
from verify.checker.quadratic_forms import NotQuadratic
from verify.claims.needs import speaks_of_samples
from verify.export import coq
from verify.export.export import export, theorems
from verify.export.induction import Induction
from verify.export.reading import FORMATS
from verify.export.squares import squares
from verify.export.theorem import Theorem
from verify.results.files import write_json
from verify.worst.potential import potential
from verify.worst.proven import ERRORS, TEMPLATES, worst_case_at
from verify.worst.worst_case import worst_case

COQ = shutil.which("coqc")
needs_coq = pytest.mark.skipif(COQ is None, reason="Coq is not installed: no coqc in PATH")
AXIOMS = {"ClassicalDedekindReals.sig_forall_dec", "ClassicalDedekindReals.sig_not_dec",
          "FunctionalExtensionality.functional_extensionality_dep", "Classical_Prop.classic"}  # of Coq's real numbers
GD = "classical/gd-distance", {"mu": Q(1, 10), "eta_l": Q(1, 2)}


def proof_of(name, given, onwards=False, folder=None):
    claim = next(c for c in load_claims(folder) if c.id == name) if folder else find_claim(name)
    return worst_case(claim, given, TEMPLATES[1] if folder else None, factors=False, onwards=onwards).certificate


def coqc(text, folder):
    """Whether Coq accepts a text, and what it says."""
    file = folder / "proof.v"
    file.write_text(text, encoding="utf-8")
    done = subprocess.run([COQ, "-q", file.name], cwd=folder, capture_output=True, text=True, timeout=1800)
    return done.returncode == 0, done.stdout + done.stderr


def axioms(said):
    """The axioms that ``Print Assumptions`` lists."""
    return {*re.findall(r"^([A-Za-z_][\w.]*)(?= *:|$)", said, re.M)} - {"Axioms"}


def test_each_fact_is_a_named_hypothesis_and_each_multiplier_stands_in_the_proof():
    certificate = proof_of(*GD)
    text = export(certificate, "coq")
    sections = re.findall(r"^Section (\w+)\.$(.*?)^End \1\.$", text, re.M | re.S)
    assert len(sections) == len(certificate["settings"][0]["proofs"])
    for (_, section), used in zip(sections, certificate["settings"][0]["proofs"], strict=True):
        named = re.findall(r"^Hypothesis (\w+) :", section, re.M)
        assert [name for name in named if not name.startswith("square")] == [name.replace(" ", "_") for name in used]
        assert section.count("times _ _ (whole") == len(named)
    for part in ("classical/gd-distance", certificate["reading"], certificate["statement"]["text"], "eta_l = 1/2",
                 "interpolation: points 1 and 0 of client 0", "`fedtheory check` checks that"):
        assert part in text


@pytest.mark.parametrize("language", ["coq", "lean"])
def test_a_text_in_a_certificate_ends_no_comment(language):
    certificate = proof_of(*GD)
    certificate["reading"] = '*) Axiom false : False. (* "\naxiom false : False'
    text = export(certificate, language)
    assert not re.search(r"^ *[Aa]xiom", text, re.M)
    if language == "coq":
        assert "*) Axiom" not in text and text.count("(*") == text.count("*)") and '"' not in text


@pytest.mark.parametrize(("change", "told"), [
    (lambda c: {**c, "format": "fedtheory growth 1"}, ["fedtheory growth 1", *FORMATS]),
    (lambda c: {**c, "settings": [{**c["settings"][0], "proofs": [{}, {}]}]}, ["rejects", "not a sum of squares"]),
    (lambda c: {**c, "format": "fedtheory certificate 4"}, ["got a counterexample", *FORMATS]),
    (lambda c: [], ["None", *FORMATS])])
def test_what_is_no_proof_is_refused(change, told):
    with pytest.raises(ValueError, match=".*".join(map(re.escape, told[:1]))) as error:
        export(change(proof_of(*GD)), "coq")
    assert all(part in str(error.value) for part in told)


def test_the_command(run, tmp_path):
    proof, out = tmp_path / "proof.json", tmp_path / "proof.v"
    certificate = proof_of(*GD)
    write_json(proof, certificate)
    assert run("export", "--coq", proof, "--out", out)[0] == 0
    assert out.read_text(encoding="utf-8") == export(certificate, "coq")
    status, printed, _ = run("export", "--lean", proof)
    assert status == 0 and printed == export(certificate, "lean")
    for wrong in ([], ["--coq", proof, "--lean", proof]):
        status, _, said = run("export", *wrong)
        assert status == 2 and "give one of --coq FILE and --lean FILE" in said
    write_json(proof, {"format": "fedtheory growth 1"})
    status, _, said = run("export", "--coq", proof)
    assert status == 2 and "fedtheory growth 1" in said and all(each in said for each in FORMATS)
    proof.write_text("{")
    status, _, said = run("export", "--coq", proof)
    assert status == 2 and str(proof) in said.replace("\n", "") and "is not a certificate" in said


def test_squares_add_up_and_no_other_form_is_one():
    form = {(0, 0): Q(2), (0, 1): Q(-2), (1, 1): Q(5), (): Q(3)}
    found = {}
    for number, row in squares(form):
        assert number > 0
        for i, a in row.items():
            for j, b in row.items():
                found[min(i, j), max(i, j)] = found.get((min(i, j), max(i, j)), 0) + number * a * b
    assert found == {key: c for key, c in form.items() if key}
    for wrong in ({(0, 0): Q(1), (0, 1): Q(3), (1, 1): Q(1)}, {(0, 1): Q(1)}, {"loss 0 1": Q(1)}, {(): Q(-1)}):
        with pytest.raises(ValueError, match="what is left"):
            squares(wrong)


def every_kind(attacked):
    """Proofs at numbers, for every number of clients, with equalities, numbers without a value, and for every round."""
    yield proof_of(*GD)
    yield proof_of("classical/gd-distance", {}, onwards=True)
    yield proof_of("classical/sgd-distance", {})
    yield proof_of("classical/sgd-distance", {}, onwards=True)
    yield proof_of("attacked/powers-of-clients", {}, onwards=True, folder=attacked)
    yield proof_of("attacked/lengths", {}, folder=attacked)
    yield potential("fedavg", clients=2, mu=Q(1, 2), eta_l=Q(1, 2), local_steps=1).certificate


ATTACKED = ROOT / "tests" / "verify" / "attack" / "proven.toml"


def value_of(text, numbers):
    """A text as Coq reads it, at some numbers."""
    return eval(text.replace("^", "**"), dict(numbers))


def test_terms_add_up():
    """At random numbers, whether Coq is there or not."""
    rng = random.Random(0)
    for one in not_empty(one for proof in every_kind(ATTACKED) for one in theorems(proof)[1] if isinstance(one, Theorem)):
        numbers = {name: Q(rng.randint(-99, 99), rng.randint(1, 9)) for name in (*one.variables, "u")}
        u, (left, right) = numbers["u"], (value_of(side[0], numbers) for side in (one.smaller, one.larger))
        total = sum(term.number * u**term.q * (1 - (one.least or 0) * u)**term.p
                    * (value_of(term.fact.above, numbers) if term.fact else 1) for term in one.terms)
        assert one.by * (one.by_larger * right - one.by_smaller * left) == total
        assert all(term.number > 0 or term.fact.is_zero for term in one.terms)


@needs_coq
def test_coq_accepts_every_kind(tmp_path):
    found = [one for n, proof in enumerate(every_kind(ATTACKED)) for one in theorems(proof, f"kind_{n}")[1]]
    terms = [term for one in found if isinstance(one, Theorem) for term in one.terms]
    assert any(term.fact and term.fact.is_zero for term in terms) and any(term.q and term.p for term in terms)
    assert any(isinstance(one, Induction) for one in found)
    accepted, said = coqc(coq.coq_file(found, ["proofs of every kind"]), tmp_path)
    assert accepted and axioms(said) <= AXIOMS, said


FAULTS = {  # what is changed, and in what
    "a multiplier": (r"\(whole (\d+)\)", lambda m: f"(whole {int(m[1]) + 1})"),
    "a smaller multiplier": (r"\(whole (\d+)\) \(above", lambda m: f"(whole {int(m[1]) - 1}) (above"),
    "the common multiple": (r"\(sides (\d+) (\d+) (\d+) (\d+) (\d+)",
                            lambda m: f"(sides {m[1]} {m[2]} {m[3]} {m[4]} {int(m[5]) + 1}"),
    "the number at a side": (r"\(sides (\d+) (\d+) (\d+)", lambda m: f"(sides {m[1]} {m[2]} {int(m[3]) + 1}"),
    "a coefficient of a fact": (r"(Hypothesis client\w+ : 0 <= \()(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"),
    "the denominator of a fact": (r"(Hypothesis client\w+ : .*\) / )(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"),
    "a sign in a fact": (r"(Hypothesis client\w+ : .*?) - ", lambda m: f"{m[1]} + "),
    "a fact that is turned around": (r"(Hypothesis client\w+ : )0 <= (.*)\.", lambda m: f"{m[1]}{m[2]} <= 0."),
    "a square": (r"(Hypothesis square_0 : 0 <= .*? - )(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"),
    "another fact": (r"above _ (\d+) client_0_1_0", lambda m: f"above _ {m[1]} client_1_1_0"),
    "a fact that is left out": (r"Hypothesis client_0_1_0 .*", lambda m: ""),
    "the statement's larger side": (r"(  <=\n  \()(\d+)", lambda m: f"{m[1]}{int(m[2]) - 1}"),
    "the statement's smaller side": (r"(Theorem .*\n  \()(\d+)", lambda m: f"{m[1]}{int(m[2]) + 1}"),
}


@needs_coq
@pytest.mark.parametrize("fault", [
    ("(9 / 16) *", "(8 / 16) *"), ("added a n + last n <= right n.", "added a n + last n <= right n - 1.")])
def test_coq_refuses_another_rate_and_another_end_of_an_induction(fault, tmp_path):
    text = export(potential("fedavg", clients=2, mu=Q(1, 2), eta_l=Q(1, 2), local_steps=1).certificate, "coq")
    assert fault[0] in text
    accepted, said = coqc(text.replace(*fault, 1), tmp_path)
    assert not accepted and "Error" in said


@needs_coq
@pytest.mark.parametrize("fault", FAULTS)
def test_coq_refuses_a_fault(fault, tmp_path):
    text = export(proof_of(*GD), "coq")
    before, change = FAULTS[fault]
    wrong = re.sub(before, change, text, count=1)
    assert wrong != text
    accepted, said = coqc(wrong, tmp_path)
    assert not accepted and "Error" in said


PLACES_OF = {"classical": 6, "li2020": 2, "fedluar": 4, "afedpd": 2}  # how many of the referee's places, by paper
MOST_DIGITS = 60  # of a multiplier; Coq's numbers are binary trees
FEWEST = 200


def many():
    """Proofs of the registered claims about runs of some papers, at the places where the referee looks."""
    for claim in all_claims().values():
        right = claim.setting == "run" and claim.explicit and claim.statement is not None and not claim.statement.strict
        if right and claim.id.split("/")[0] in PLACES_OF and not speaks_of_samples(claim):
            for place in TEMPLATES[:PLACES_OF[claim.id.split("/")[0]]]:
                try:
                    one = worst_case_at(claim, place)
                except (*ERRORS, NotQuadratic):
                    continue
                if one.certificate:
                    yield one.certificate


@needs_coq
def test_coq_accepts_two_hundred_proofs(tmp_path):
    batch, count = [], 0
    for certificate in not_empty(many()):
        _, found = theorems(certificate, f"proof_{count}")
        if any(one.terms for one in found) and all(term.number < 10**MOST_DIGITS for one in found for term in one.terms):
            batch, count = batch + found, count + 1
        if len(batch) > 40 or count == FEWEST:
            accepted, said = coqc(coq.coq_file(batch, ["proofs of registered claims"]), tmp_path)
            assert accepted and axioms(said) <= AXIOMS, said
            batch = []
        if count == FEWEST:
            return
    pytest.fail(f"there are {count} proofs, and not {FEWEST}")
