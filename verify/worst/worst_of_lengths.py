"""Proofs of a claim about lengths that are not squared, or about coupled runs, at given sizes and numbers."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import sympy as sp

from bounds.language.claim import Claim, names_in
from bounds.language.operators import norm
from verify.checker import length_certificate as checker
from verify.checker.limits import BASIS_VECTORS, bounded
from verify.checker.operators import replayed
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import once_by_claim
from verify.exact.statement import statement_of
from verify.symbolic import length_proof
from verify.worst.configurations import Setting, Template, instantiate
from verify.worst.feasibility import feasible
from verify.worst.lengths import find_proofs
from verify.worst.worst_case import class_of, none_found

__all__ = ["LengthsResult", "about_lengths", "worst_of_lengths"]

_SLOWER = (Fraction(1), Fraction(1, 8), Fraction(1, 64))  # steps that may meet hypotheses where others do not
_LOW, _HIGH = Fraction(1, 8), Fraction(8)  # between which numbers may meet them


class LengthsResult(NamedTuple):
    """The worst case of a statement about lengths at a setting; see :class:`verify.worst.worst_case.WorstCase`."""

    setting: Setting
    functions: str
    letters: int
    factors: tuple[float | None, ...]
    certificate: dict[str, Any] | None
    reason: str = ""


@once_by_claim
def about_lengths(claim: Claim) -> bool:
    """Whether a claim is about lengths that are not squared, or about runs on neighbouring data sets."""
    if claim.setting not in ("run", "point") or claim.statement is None:
        return False
    formulas = [claim.statement.left, claim.statement.right, *(d.formula for d in claim.used_definitions().values())]
    return speaks_of_samples(claim) or any(sp.sympify(formula).has(norm) for formula in formulas)


def worst_of_lengths(claim: Claim, given: Mapping[str, Fraction], template: Template, most: int | None = None,
                     factors: bool | None = True, proofs: bool | None = True) -> LengthsResult:
    """Returns a proof, or the least factors of the larger sides that are proven, at the numbers ``given``, otherwise those
    of a ``template``: with a smaller step, or other numbers larger, where hypotheses ask for that. ``most``: letters;
    ``factors``, ``proofs``: as in :func:`verify.worst.lengths.find_proofs`.

    Raises:
        LookupError, TypeError, ValueError: the claim has no proof of this kind, or not at these numbers.
    """
    stated, refused = statement_of(claim), None
    for setting in _settings(claim, given, template):
        own = {**setting._asdict(), "vectors": [name for name, kind in stated["free"].items() if kind == ["dim"]]}
        del own["unknown"]
        try:
            feasible(claim, setting)
            rules = length_proof.rules_of({**stated, **own})
            pairs, known = rules.compared(stated["statement"]), rules.facts()
            bounded(len(rules.upstream), most or 2 * BASIS_VECTORS, "letters")
            break
        except ValueError as error:
            refused = refused or error
    else:
        raise refused or ValueError(f"{claim.id} has no setting")
    found = find_proofs(rules, known, pairs, factors, proofs)
    values = tuple(1.0 if one.proof else one.factor for one in found)
    about = setting, _functions_in_words(rules), len(rules.upstream), () if factors is False else values
    missing = [place for place, one in enumerate(found) if one.proof is None]
    if missing or not proofs:
        return LengthsResult(*about, None, none_found(missing[0], len(pairs)) if missing else "")
    certificate = {"format": checker.FORMAT, **stated, "settings": [own | {"proofs": [one.proof for one in found]}]}
    accepted, reason, *_ = replayed(checker.check, certificate)
    return LengthsResult(*about, certificate if accepted else None, "" if accepted else f"the checker: {reason}")


def _settings(claim: Claim, given: Mapping[str, Fraction], template: Template) -> Iterator[Setting]:
    """Yields settings of a template in which every number has a value, and those called squares are squares. Changes numbers
    of conditions, and steps, where the others may break hypotheses."""
    free, numbers = statement_of(claim)["free"], template.numbers or (Fraction(1),)
    named = set().union(*(names_in(side) for c in claim.hypotheses for side in (c.left, c.right)))
    loose = [name for name in instantiate(claim, given, template._replace(numbers=())).unknown
             if name in named and free[name] == []]

    @cache
    def plain(slower: Fraction) -> tuple[Template, Setting]:
        tried = template._replace(numbers=numbers, step=template.step * slower)
        return tried, instantiate(claim, given, tried)

    for change in (lambda n: n, lambda n: min(max(n, _LOW), _HIGH), lambda n: max(n, _HIGH))[: 3 if loose else 1]:
        for slower in _SLOWER:
            tried, setting = plain(slower)
            if slower != 1 and setting == plain(Fraction(1))[1]:
                break  # the template's step is not used
            own = {name: change(Fraction(setting.values[name])) for name in loose if isinstance(setting.values[name], str)}
            setting = instantiate(claim, {**given, **own}, tried) if own else setting
            values = {name: value for name, value in setting.values.items() if free[name] != ["dim"]}
            for name, value in values.items():
                if name.endswith("_sq") and isinstance(value, str) and name not in given:  # its root is then a fraction
                    values[name] = str(Fraction(value) ** 2)
            yield setting._replace(values=values, unknown=[])


def _functions_in_words(rules) -> str:
    """The class of functions and the law of gradients, in words."""
    if rules.coupled:
        return class_of(rules, "losses of samples")
    return class_of(rules) + ", gradients with added noise" * bool(rules.noises)
