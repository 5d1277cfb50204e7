"""The worst case of a claim at given sizes and numbers, over every function of its class in every dimension."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from math import inf, isnan
from typing import Any

from bounds.language.claim import Claim
from synthetic.base.display import RichDisplay
from verify.checker import proof as checker
from verify.checker.limits import TooLarge, bounded
from verify.checker.operators import replayed
from verify.checker.proof import FORMAT
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm
from verify.claims.sizes import once_by_claim
from verify.exact.statement import statement_of
from verify.symbolic.exchangeable_clients import ANY, EveryClientCount
from verify.symbolic.lazy import LazyMapping
from verify.symbolic.replay import Replay
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import Setting, Template, instantiate
from verify.worst.every_client_count import first_proof, has_degree
from verify.worst.feasibility import feasible
from verify.worst.natural_units import in_own_units, natural_units
from verify.worst.program import EXACT, SMALL, Program, ProgramFamily, Solution, programs
from verify.worst.proof import proof

__all__ = ["STEPS", "WorstCase", "certified", "class_of", "functions_of", "has_form", "none_found", "proof_in_own_units",
           "worst_case"]

STEPS = 600_000  # of a symbolic run whose factors alone are asked for: enough for some twenty rounds
_KEPT = 128  # worst cases: more than a claim has templates
_NEAR, _UNSURE = 1e-6, 1e-4  # factors above one by less are one; those of a solver that is not sure of its digits
_NOT_SAID = {"dim", "layers", "iterations"}


@dataclass(frozen=True)
class WorstCase(RichDisplay):
    """The worst case of a statement at a setting, or a proof.

    Attributes:
        factors: for each pair of sides, about the least number by which the larger side may be multiplied; infinite where
            none is enough, None where the solver finds no answer.
        sure: whether the solver reached its own precision in all factors.
        errors: by how much of themselves the factors may be wrong; none of rough ones.
        certificate: a proof that the checker accepts; None where none was found.
        reason: why there is none.
        relation: of the statement.
        function: one that breaks the statement as much, in words; empty where none is known.
        onwards: the setting of the proof, if that holds for every number of clients from its own on.
        left_out: what the setting has and the claim does not ask for, in words.
    """

    claim: str
    setting: Setting
    functions: str
    letters: int
    factors: tuple[float | None, ...]
    certificate: dict[str, Any] | None
    reason: str = ""
    sure: bool = True
    onwards: Setting | None = None
    errors: tuple[float, ...] = ()
    relation: str = "<="
    function: str = ""
    left_out: tuple[str, ...] = ()

    @property
    def reliable(self) -> tuple[float | None, ...]:
        """The factors, None also in place of one whose solution leaves more than 1e-5 of it open."""
        errors = self.errors or (0.0,) * len(self.factors)
        return tuple(factor if error <= EXACT else None for factor, error in zip(self.factors, errors, strict=True))

    @property
    def ratio(self) -> float | None:
        """The largest factor: the smaller side at its worst in units of the larger one; None where it is not known."""
        known = [factor for factor in self.reliable if factor is not None and not isnan(factor)]
        largest = max(known, default=None)
        return largest if largest is not None and (len(known) == len(self.factors) or largest > 1) else None

    def may_fail(self, near: float = _NEAR) -> bool:
        """Whether a factor is above 1 by more than ``near``, rounding, as far as the solver is sure of its digits."""
        near = near if self.sure else max(near, _UNSURE)
        return any(factor is not None and factor > 1 + near for factor in self.factors)

    @property
    def holds(self) -> bool | None:
        """True with a proof; False if the solver is sure that a function breaks the statement; None otherwise."""
        near = _NEAR if self.sure else _UNSURE
        return True if self.certificate is not None else False if (self.ratio or 0) > 1 + near else None

    @property
    def answer(self) -> str:
        """The worst case in words, such as ``holds at rounds = 3: at most 0.4286 of the bound in the worst case``."""
        subject, of = {"<=": ("", "of the bound"), ">=": ("the right side is ", "of the left side")}.get(
            self.relation, ("one side is ", "of the other side"))
        if self.ratio is None:
            why = "the solver has no reliable answer" if self.factors else "it was not solved"
            open_still = f"is not decided: {why}, and {self.reason or 'no proof was looked for'}"
            return f"holds at {self._setting_in_words}" if self.holds else open_still
        most = f"{subject}at most {self.ratio:.4f} {of} in the worst case"
        if self.holds is False:
            size = f"no multiple {of} is enough" if self.ratio == inf else f"{subject}{self.ratio:.4f} {of}"
            return f"is false in the worst case at {self._setting_in_words}: {size}"
        if self.holds and abs(self.ratio - 1) <= EXACT:
            return f"holds and is tight at {self._setting_in_words}: {subject}{self.ratio:.4f} {of} in the worst case"
        at = f"at {self._setting_in_words}: {most}"
        return f"holds {at}" if self.holds else f"is not broken, and not proven, {at}; {self.reason}"

    def _summary(self) -> str:
        attained = f"; a function that attains it: {self.function}" if self.function else ""
        return f"{self.claim} {self.answer}{attained}"

    def _table(self):
        yield from (("functions", self.functions), ("basis vectors", self.letters), *self.numbers.items())
        yield "proof", f"none: {self.reason}" if self.certificate is None else "accepted by the checker"

    @property
    def numbers(self) -> dict[str, str]:
        """Sizes, and numbers that have a value; layers where a model has several."""
        setting = self.onwards or self.setting
        weights = setting.weights
        weights = {} if len({*weights}) == 1 else {"weights": weights if weights == ANY else " ".join(weights)}
        found = {**setting.sizes, **{n: v for n, v in setting.values.items() if isinstance(v, str)}, **weights}
        if self.onwards:
            found["clients"] = f"every number from {found['clients']} on"
            del found["participants"]
        told = {"layers"} if self.setting.sizes["layers"] > 1 else set()
        return {name: str(value) for name, value in found.items() if name not in _NOT_SAID - told}

    @property
    def scope(self) -> str:
        """The functions, sizes and numbers for which the statement was evaluated, in one line."""
        return f"{self.functions}, in every dimension; {self._setting_in_words}"

    @property
    def _setting_in_words(self) -> str:
        """The sizes and numbers, and what the setting leaves out."""
        return ", ".join([*(f"{name} = {value}" for name, value in self.numbers.items()), *self.left_out])


def worst_case(claim: Claim, given: Mapping[str, Fraction] | None = None, template: Template | None = None,
               most: int | None = None, factors: bool | None = True, proofs: bool = True, onwards: bool = False,
               rough: bool = False, at_rest: bool = False, enough: float = 0.0) -> WorstCase:
    """The worst case of a claim about runs, at the sizes and numbers ``given``, and else at those of a ``template``; without
    ``factors`` only a proof, without ``proofs`` only the factors; for ``factors`` None these only where there is no proof;
    ``onwards``: first a proof for every number of clients from some number on, and nothing else where there is one.
    ``rough``: factors as in :meth:`verify.worst.program.Program.solve`; ``at_rest``: of runs that start at the optimum;
    ``enough``: of factors no larger than that, an upper bound by a proof with few letters does.

    Raises:
        ImportError: the solver is not installed.
        LookupError, TypeError, ValueError: the claim has no worst case of this kind, or not at these numbers, or not with
            at most so many letters.
    """
    setting = feasible(claim, instantiate(claim, given or {}, template))
    found = _worst_case(claim, json.dumps(setting), most, factors, proofs, onwards, rough, at_rest, enough)
    return replace(found, left_out=_left_out(claim, (found.onwards or setting).weights))


def none_found(number: int, count: int) -> str:
    """Say that no proof was found of a pair of sides, of ``count``; ``number`` counts from 0."""
    return "no proof was found" + (f" of pair {number + 1} of {count} sides" if count > 1 else "")


def _left_out(claim: Claim, weights) -> tuple[str, ...]:
    """Words for what a setting with these weights has, and a claim does not ask for."""
    how, equal = claim.procedure, weights != ANY and len({*weights}) == 1
    found = {"no free clients": how is not None and how.free_clients,
             "equal weights": equal and len(weights) > 1 and how is not None and not how.equal_weights}
    return tuple(words for words, admitted in found.items() if admitted)


@lru_cache(_KEPT)
def _worst_case(claim: Claim, text: str, most: int | None, factors: bool | None, proofs: bool, onwards: bool, rough: bool,
                at_rest: bool, enough: float) -> WorstCase:
    """The worst case at a setting, written as JSON: several templates may have the same one."""
    setting = Setting(*json.loads(text))
    if onwards and (one := first_proof(
            claim, setting, partial(_prove_client_counts, claim, statement_of(claim), setting, most))):
        return one
    units = natural_units(claim, setting)
    of_units = json.dumps(units.divided(claim, setting))
    try:
        letters, asked = _programs_at(claim, of_units, None if proofs else most, at_rest)
        own = None if of_units == text else partial(_own_programs, claim, text)
        found = certified(statement_of(claim), setting, asked, most, own) if proofs else (None, "none was looked for")
        solved: list[Solution | None] = []
        if factors or not proofs or (factors is None and found[0] is None):
            solved = [_factor(*each, most, rough, enough) for each in asked]
    except RecursionError as error:
        raise ValueError(f"{claim.id} has no worst case of this kind: a number is defined by itself") from error
    except (NotQuadratic, TooLarge) as error:
        needed = f"; it may need a value of {', '.join(setting.unknown)}" if setting.unknown else ""
        raise ValueError(f"{claim.id} has no worst case of this kind: {error}{needed}") from error
    factors = (*(one and one.factor for one in solved),)
    functions = functions_of(letters, units.curvature)
    return WorstCase(claim.id, setting, functions, len(letters.depends), factors, *found,
                     sure=all(one.sure for one in solved if one is not None),
                     errors=tuple(one.error if one is not None else 0.0 for one in solved),
                     relation=claim.statement.relation)


@lru_cache(4)
def _programs_at(claim: Claim, text: str, most: int | None,
           at_rest: bool) -> tuple[SymbolicRun, list[tuple[ProgramFamily, QuadraticForm, QuadraticForm]]]:
    """The symbolic run at a setting, and the programs of the statement; ``most``: basis vectors, in at most ``STEPS``."""
    stated, *notes = _statement_and_notes(claim)
    limits = {} if most is None else {"most": most, "steps": STEPS}
    letters = SymbolicRun(stated, *json.loads(text), notes=notes, **limits)
    return letters, programs(letters, [stated["statement"]], at_rest=at_rest)


def _own_programs(claim: Claim, text: str) -> list[tuple[ProgramFamily, QuadraticForm, QuadraticForm]]:
    return _programs_at(claim, text, None, False)[1]


@once_by_claim
def _statement_and_notes(claim: Claim) -> tuple[Any, ...]:
    """The statement of a claim, and empty notes on its formulas, which are shared by all settings."""
    return statement_of(claim), {}, {}, {}


def _prove_client_counts(claim: Claim, stated, setting: Setting, most: int | None, onwards: Setting,
                         degree: int) -> WorstCase | None:
    """Proves a claim for every number of clients, at the setting ``onwards``; returns None without a proof."""
    units = natural_units(claim, onwards)
    of_units = units.divided(claim, onwards)

    def programs_at(at: Setting) -> tuple[SymbolicRun, list[tuple[ProgramFamily, QuadraticForm, QuadraticForm]]]:
        letters = EveryClientCount(stated, *at, degree=degree)
        if not has_degree(letters, degree):
            raise NotQuadratic("noise of equal weights has a degree")
        return letters, programs(letters, [stated["statement"]])

    letters, pairs = programs_at(of_units)
    own = None if of_units == onwards else lambda: programs_at(onwards)[1]
    certificate, _ = certified(stated, onwards, pairs, most, own, degree=degree)
    known = claim.id, setting, functions_of(letters, units.curvature), len(letters.depends), (), certificate
    return None if certificate is None else WorstCase(*known, onwards=onwards)


def _factor(given: ProgramFamily, smaller: QuadraticForm, larger: QuadraticForm, most: int | None, rough: bool,
            enough: float) -> Solution | None:
    """The factor proven with the basis vectors of the points in the sides, if that is ``enough`` or the solver's factor with
    all of them is larger; else the factor with all basis vectors."""
    few = given.for_points_of(smaller, larger) if enough else None
    found = None if few is None else _solve_pair(_checked_size(few, most), smaller, larger, rough)
    if found is not None and found.factor <= enough:
        return found
    whole = _solve_pair(_checked_size(given.whole, most), smaller, larger, rough)
    return found if found is not None and whole is not None and whole.factor > found.factor else whole


def _checked_size(program: Program, most: int | None) -> Program:
    """Returns a program that is small enough for a factor. Raises TooLarge."""
    if most is not None:
        bounded(program.letters.meter.spent, STEPS, "steps")
        bounded(program.effective_size, most, "letters")
    return program


def _solve_pair(program: Program, smaller: QuadraticForm, larger: QuadraticForm, rough: bool) -> Solution | None:
    """Solves for the factor of a pair of sides; a rough one only if the solver is sure of it. If the larger side is never
    positive, the other one is multiplied: ``- larger <= - factor smaller``. The factor is infinite if the statement is false
    although a factor below one is enough, as the larger side may be negative where the smaller one is."""
    negative = program.may_be_negative(larger)
    if negative and not program.may_be_negative(-larger):
        smaller, larger = -larger, -smaller
    found = _rough_first(program, rough, smaller, larger)
    small = found is None or found.factor < SMALL or (found.factor < 1 and program.may_be_negative(smaller))
    if negative and small:
        whole = _rough_first(program, rough, QuadraticForm({}), larger - smaller, 0.0)
        if whole is not None and whole.factor == inf:
            return whole
    return found


def _rough_first(program: Program, rough: bool, *asked: Any) -> Solution | None:
    """Returns the solver's rough solution if it is sure of that, else its refined or plain one."""
    found = program.solve(*asked, rough=True) if rough else None
    return found if found is not None and found.sure else program.solve(*asked, refined=rough)


def certified(stated, setting: Setting, asked, most: int | None, own: Callable[[], Any] | None = None,
              **more: Any) -> tuple[dict[str, Any] | None, str]:
    """Returns a certificate that the checker accepts, or None and the reason. ``own()``: the programs in the units of the
    setting, if those that are ``asked`` are in others; ``more``: other fields of its setting."""
    multipliers = []
    for number, (program, *pair) in enumerate(asked):
        found = proof(program, *pair, most)
        if found is not None and own is not None:
            found = proof_in_own_units(found, program, pair, own()[number])
        if found is None:
            return None, none_found(number, len(asked))
        multipliers.append({name: str(number) for name, number in found.items()})
    settings = [{**setting._asdict(), "proofs": multipliers, **more}]
    certificate = {"format": FORMAT, **stated, "settings": settings}
    accepted, reason, *_ = replayed(checker.check, certificate)
    return (certificate, "") if accepted else (None, f"the checker: {reason}")


def proof_in_own_units(found: dict[str, Fraction], program: ProgramFamily, pair: Sequence[QuadraticForm],
                       own: tuple[ProgramFamily, QuadraticForm, QuadraticForm]) -> dict[str, Fraction] | None:
    """A proof in its own units, from the one that was ``found`` in others; another one if forms change with the units."""
    given, smaller, larger = own
    natural, carried = ((larger - smaller, LazyMapping.wrap(of.known[0]) | of.known[1]) for of, smaller, larger in (
        (program, *pair), own))
    carried = in_own_units(found, natural, carried)
    return proof(given, smaller, larger) if carried is None else carried


def has_form(claim: Claim, template: Template) -> int:
    """The number of pairs of forms that a claim compares at a template. Raises what :func:`worst_case` raises."""
    stated = statement_of(claim)
    run = SymbolicRun(stated, *feasible(claim, instantiate(claim, {}, template)))
    return sum(1 for _ in run.compared(stated["statement"]))


def functions_of(letters: SymbolicRun, curvature: Fraction = Fraction(1)) -> str:
    """The class of functions and the law of gradients, in words; see :func:`class_of`."""
    return f"{class_of(letters, curvature=curvature)}, {'full' if letters.exact else 'unbiased'} gradients"


def class_of(letters: Replay, what: str = "F_k", curvature: Fraction = Fraction(1)) -> str:
    """The class of functions of a run on letters, in words; ``curvature``: the unit of its bounds on curvatures."""
    (L, *_), (m, *_) = letters.bounds["L_client"], letters.bounds["mu_client"]
    if m is not None and m == L:
        by = "L" if letters.given.get("L") == L else L * curvature
        return f"all quadratic {what} of curvature {by} in every direction"
    smooth = "differentiable" if L is None else "L-smooth" if letters.given.get("L") == L else f"{L * curvature}-smooth"
    by = "mu" if letters.given.get("mu") == m else abs(m or 0) * curvature
    convex = "" if m is None else "convex " if m == 0 else f"{by}-strongly convex " if m > 0 else f"{by}-weakly convex "
    return f"all {convex}{smooth} {what}"
