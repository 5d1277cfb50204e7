"""Proofs for every number of rounds: of one round from any state, and of statements about the last round by a potential."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim
from verify.checker import rounds as checker
from verify.checker.limits import SETTINGS, bounded
from verify.checker.operators import replayed
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm, plain
from verify.checker.round_invariance import BY_ROUND
from verify.checker.rounds import FORMAT
from verify.checker.run import METHODS
from verify.claims.needs import speaks_of_samples
from verify.exact.statement import formula, statement_of
from verify.symbolic.rounds import ProofObligation, obligations
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import Setting, Template, instantiate
from verify.worst.coordinate_ascent import ERRORS
from verify.worst.every_client_count import first_proof, has_degree
from verify.worst.natural_units import natural_units
from verify.worst.program import ProgramFamily
from verify.worst.proof import proof
from verify.worst.proven import (
    FEWEST,
    TEMPLATES,
    Proven,
    merge_certificates,
    most_frequent,
    scope_in_words,
    unbounded_sizes,
    untested_sizes,
    worst_case_at,
)
from verify.worst.stress_test import ENOUGH, suspected_failure
from verify.worst.worst_case import WorstCase, functions_of, proof_in_own_units

__all__ = ["every_round", "every_round_at", "potentials", "prove_obligations"]

_MOST = 32  # letters
_COUNTS = {operators.rounds, operators.iterations}
_LARGER = (Template(6, 1, 1), Template(1, 1, 6), Template(2, 1, 5, near=(Fraction(9, 10), Fraction(1)), weights=(1, 3)))
_NEAR = 1e-5  # factors that are larger than one by less are one
_GIVE_UP = 3  # templates without a proof after which none is looked for at others


def every_round(claim: Claim) -> Proven:
    """Proofs of an explicit claim about runs for every number of rounds, at the templates of :mod:`verify.worst.proven` that
    meet its hypotheses; it may not be false at one of them.

    Raises:
        ImportError: the solver is not installed.
    """
    if claim.setting != "run" or speaks_of_samples(claim) or claim.statement.strict or claim.exists is not None:
        return Proven(reason="it is not about runs on losses, strict, or about a number that exists")
    if claim.procedure is not None and claim.procedure.free_clients:
        return Proven(reason="it has free clients")
    found, reasons = [], []
    for template in dict.fromkeys(p._replace(rounds=1) for p in (*TEMPLATES, *_LARGER)):
        try:
            one = every_round_at(claim, {}, template, onwards=True)
        except ERRORS as error:
            reasons.append(str(error))
        else:
            if one.certificate is not None:
                found.append(one)
            elif _may_fail(claim, template):
                return Proven(reason=f"not from any state: {one.reason} at {one.scope}")
            else:
                reasons.append(f"{one.reason} at {one.scope}")
        if len(reasons) >= _GIVE_UP and not found:
            break
    if len(found) < FEWEST:
        return Proven(reason=f"not from any state: {most_frequent(reasons) or 'too few templates'}")
    if small := untested_sizes(claim, [one.setting.sizes for one in found], ("clients", "local_steps")):
        return Proven(reason=small)
    if where := suspected_failure(claim, ENOUGH, unbounded_sizes(found) | {"rounds"}):
        return Proven(reason=f"it may be false at {where}")
    found = found[:SETTINGS]
    return Proven(merge_certificates(found), scope_in_words(found, "every number of rounds"))


def _may_fail(claim: Claim, template: Template) -> bool:
    """Whether the statement may be false at a template, in a run of two rounds, or of one where two are too many."""
    for number in (2, 1):
        here = template._replace(rounds=number)
        with suppress(*ERRORS):  # most often factors alone tell
            if not worst_case_at(claim, here, proofs=False).may_fail(_NEAR):
                return False
        with suppress(*ERRORS):
            one = worst_case_at(claim, here)
            return one.certificate is None and one.may_fail(_NEAR)
    return True


def every_round_at(claim: Claim, given: Mapping[str, Fraction], template: Template, onwards: bool = False) -> WorstCase:
    """Proves a claim for every number of rounds at the sizes and numbers ``given``, otherwise those of a template;
    ``onwards``: for every number of clients from some number on too, if there is one.

    Raises:
        LookupError, TypeError, ValueError: the claim does not speak of every round, or not at these numbers.
    """
    try:
        return _every_round_at(claim, given, template._replace(numbers=()), onwards)
    except (TypeError, ValueError):
        if not template.numbers:
            raise
        return _every_round_at(claim, given, template, onwards)


def _every_round_at(claim: Claim, given, template: Template, onwards: bool) -> WorstCase:
    stated, reason = statement_of(claim), "no potential was found"
    tried: list[tuple[Setting, dict[str, Any] | None]] = []
    if claim.statement.over:
        for number in (1, 2):
            tried.append((instantiate(claim, {"rounds": Fraction(number), **given}, template), None))
    else:
        setting = instantiate(claim, {"rounds": Fraction(1), **given}, template)
        tried += [(setting, potential) for potential in potentials(claim, SymbolicRun(stated, *setting))]
    said: Exception | None = None
    for setting, potential in tried:
        if onwards and (one := first_proof(
                claim, setting, partial(_prove_client_counts, claim, stated, setting, potential))):
            return one
        try:
            found = _prove_round(claim, stated, setting, potential)
        except ERRORS as error:
            said = said or error
            continue
        said = None if potential is None else said
        if found.certificate is not None or found.reason or potential is None:
            return found
        known = found.claim, found.setting, found.functions, found.letters, ()
    if said is not None or not tried:
        raise ValueError(f"{claim.id} is not proven for every number of rounds: {said or 'it has no potential'}")
    return WorstCase(*known, None, reason)


def _prove_round(claim: Claim, stated, setting: Setting, potential, degree: int | None = None) -> WorstCase:
    """Looks for a proof of one round at a setting; with a ``degree`` for every number of clients."""
    units = natural_units(claim, setting)
    of_units = units.divided(claim, setting)
    asked = obligations(stated, of_units, potential, degree)
    letters = asked[0].letters
    if degree is not None and not has_degree(letters, degree):
        raise NotQuadratic("noise of equal weights has a degree")
    bounded(max(len(obligation.letters.depends) for obligation in asked), _MOST, "letters")
    known = claim.id, setting, functions_of(letters, units.curvature), len(letters.depends), ()
    proofs = prove_obligations(
        asked, None if of_units == setting else lambda: obligations(stated, setting, potential, degree))
    if proofs is None:
        return WorstCase(*known, None, "no proof of one round was found" * (potential is None))
    one = {**setting._asdict(), "potential": potential, "proofs": proofs} | ({} if degree is None else {"degree": degree})
    certificate = {"format": FORMAT, **stated, "settings": [one]}
    accepted, reason, *_ = replayed(checker.check, certificate)
    return WorstCase(*known, certificate if accepted else None, "" if accepted else f"the checker: {reason}")


def _prove_client_counts(claim: Claim, stated, setting: Setting, potential, onwards: Setting,
                         degree: int) -> WorstCase | None:
    found = _prove_round(claim, stated, onwards, potential, degree)
    return None if found.certificate is None else replace(found, setting=setting, onwards=onwards)


def prove_obligations(asked: list[ProofObligation],
              own: Callable[[], list[ProofObligation]] | None = None) -> list[dict[str, str]] | None:
    """Returns multipliers for all proof obligations, or None if some are not found. ``own()``: the obligations in the units
    of the proof, if those that are ``asked`` are in others."""
    programs, of_own = _programs(asked), None
    found = []
    for number, (given, smaller, larger) in enumerate(programs):
        rest = larger - smaller
        multipliers = {} if not rest.terms or ({*rest.terms} <= {()} and plain(rest) >= 0) else proof(given, smaller, larger)
        if multipliers and own is not None:
            of_own = of_own or _programs(own())
            multipliers = proof_in_own_units(multipliers, given, (smaller, larger), of_own[number])
        if multipliers is None:
            return None
        found.append({name: str(number) for name, number in multipliers.items()})
    return found


def _programs(asked: list[ProofObligation]) -> list[tuple[ProgramFamily, QuadraticForm, QuadraticForm]]:
    """Returns the program and both sides of each proof obligation; those with the same run and past share a program."""
    programs: dict[tuple[int, int], ProgramFamily] = {}
    found = []
    for letters, past, *pair in asked:
        key = id(letters), past
        if key not in programs:
            known = letters.facts_by_past({past})[past]
            sides = [side for one in asked if one.letters is letters for side in letters.as_proven(one.smaller, one.larger)]
            programs[key] = ProgramFamily(letters, known, sides)
        found.append((programs[key], *letters.as_proven(*pair)))
    return found


# potentials ----------------------------------------------------------------------------------------------------------------
def potentials(claim: Claim, letters: SymbolicRun) -> Iterator[dict[str, Any]]:
    """Yields potentials that a statement about the last round, or about sums over all rounds, suggests: the part of its
    right side about the first state, moved to the state before round r, and its left side about the last state, likewise."""
    statement = claim.statement
    left, right = (statement.left, statement.right) if statement.relation == "<=" else (statement.right, statement.left)
    mean = left.has(operators.E)
    summed = any(isinstance(a, sp.Sum) and a.limits[0][2].free_symbols & _COUNTS for a in left.atoms(sp.Sum))
    first, bases, cost, level = sp.S.Zero, [], sp.S.Zero, sp.S.Zero
    times = operators.rounds if left.has(1 / operators.rounds) else sp.S.One
    for term in sp.Add.make_args(sp.expand_mul(right * times)):
        own, counted = term.as_independent(*_COUNTS, as_Add=False)
        powers = [(a, operators.rounds) for a in counted.atoms(sp.Pow) if a.exp.free_symbols & _COUNTS]
        powers += [(a.function, a.limits[0][0]) for a in counted.atoms(sp.Sum) if isinstance(a.function, sp.Pow)]
        bases += [a.base ** sp.expand(a.exp.subs(operators.iterations,
                                                 operators.rounds * operators.local_steps)).coeff(index)
                  for a, index in powers]
        if _depends_on_state(term):
            first += own
        elif counted == operators.rounds or counted.has(sp.Sum):
            cost += own
        else:
            level += own
    factors = [plain(letters.value(formula(base), {}, None)) for base in dict.fromkeys(bases)] if not summed else []
    values = [e for e in (first, left if not summed else sp.S.Zero) if e != 0]
    for q in dict.fromkeys([*factors, Fraction(1)]):
        paid = cost + level * (1 - sp.Rational(q.numerator, q.denominator))
        for value in values:
            written = formula(_at_round(claim, operators.E(value) if mean and not value.has(operators.E) else value))
            yield {"value": written, "factor": str(q), "cost": formula(paid)}


def _depends_on_state(term) -> bool:
    """Whether a term depends on a model or on a least value."""
    return term.has(operators.norm2, operators.dot, operators.objective, operators.F, operators.grad,
                    operators.objective_grad, operators.F_star,
                    operators.F_star_client)


def _at_round(claim: Claim, value):
    """Rewrites a formula about the first or the last state as one about the state before round r."""
    r = operators.r
    value = value.xreplace({operators.rounds: r, operators.iterations: r * operators.local_steps})
    by_time = {"x_sampled", "x_local", "x"}

    def move_to_round(a):
        name = str(a.base.label)
        if a.indices[0] != 0 or name not in {*by_time, *BY_ROUND, *METHODS[claim.procedure.base][1]}:
            return a
        return a.base[(r * operators.local_steps if name in by_time else r, *a.indices[1:])]

    return value.replace(lambda a: isinstance(a, sp.Indexed), move_to_round)
