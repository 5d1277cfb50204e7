"""Sizes and numbers far from those at which a claim is proven, at which it may be false."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import product, takewhile
from math import inf, prod, sqrt
from random import Random

from bounds.language.claim import Claim
from verify.worst.configurations import Template, instantiate
from verify.worst.coordinate_ascent import (
    ERRORS,
    Evaluation,
    Evaluator,
    ascend,
    evaluations,
    is_as_large,
    result_of_error,
    sort_worst_first,
)
from verify.worst.worst_case import WorstCase, worst_case

__all__ = ["AT_BOUNDS", "ENOUGH", "STRESS_TEMPLATES", "geometric_limit", "growing", "limit", "suspected_failure"]

_LETTERS, _MOST = 20, 44  # of a setting that is looked at, and of one at which a proof is looked for
_COUNT, _TRIALS = 48, 24  # settings drawn, and trials uphill from the worst of them
_STARTS = 2  # settings from which numbers are moved
_TURNS = ("clients", "rounds", "local_steps")  # sizes that are large at the settings drawn, in turn
_LARGE, _SMALL = (3, 4, 6, 8), (1, 1, 2)  # sizes
_RUN = 12  # clients times rounds times local steps
_NUMBERS = ("1", "1", "1/10", "1/100", "1/1000", "1/3", "3", "10", "100")
_SMOOTH = ("1", "1", "1/10", "1/100", "1/1000", "3", "100")
_RATIOS = ("1/10", "1/1000", "1/2", "9/10")
_NEAR = ("1", "1", "1/2", "1/10", "1/1000", "999/1000")
_STEPS = ("1/2", "1", "1/10", "19/10", "1/100")
_SHARES = (Fraction(1), Fraction(1, 3), Fraction(1, 2))  # of steps that may vary
_VANISHING = tuple(tuple(map(Fraction, numbers)) for numbers in ((0,), (0, 1), (1, 0)))  # all numbers, every other one
_APART = tuple(tuple(map(Fraction, near)) for near in (("1", "1/1000"), ("1/1000", "1"), ("1",)))  # where mu is about L
_FALSE, _TRUE = 1.0005, 1.0004  # a larger factor asks for a proof; of a smaller one an upper bound does
_PROVEN = 2  # at most, of a size for every number of which there are proofs
_HALVES, _LONG = ((2, 4, 8), (3, 6, 12)), 26  # of sizes that grow, and letters of the largest
_AT_REST, _AT_REST_MU = ((1, (2, 5, 8)), (2, (2, 3, 4))), (Fraction(99, 100), Fraction(1, 10))  # clients and sizes; mu
_SETTLED, _ADDS_UP = 1e-3, 1.03  # growth that counts as none; limits of what is no more than nearly geometric
ENOUGH = 4  #: settings drawn at which something must be known of a claim that rests on nothing but its own proofs
_SAME = 1e-6  # differences of factors that are none
_STILL, _FASTER = 1e-3, 3.0  # what counts as no growth; how many times shorter steps of C q^n become at least


def _fewer(template: Template) -> Iterator[Template]:
    """A template, and in turn those with fewer clients, rounds and local steps; with the same weights too."""
    yield template
    rounds, steps = (1, 2) if template.local_steps > template.rounds else (2, 1)
    for m, R, K, weights in ((2, 2, 2, ()), (2, rounds, steps, ()), (2, rounds, steps, (1,)), (1, 1, 2, (1,))):
        yield template._replace(clients=min(m, template.clients), rounds=min(R, template.rounds),
                                weights=weights or template.weights, local_steps=min(K, template.local_steps))


#: a template with all numbers at their bounds, or 1
AT_BOUNDS = Template(numbers=(Fraction(1),))


def _draw_templates() -> list[Template]:
    """Templates with one large size each, and numbers of all magnitudes; with steps that vary; where numbers vanish; finally
    with mu close to L and the other numbers at their bounds."""
    rng = Random(1)

    def some(texts) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, rng.choices(texts, k=7)))

    found = []
    for i in range(_COUNT):
        sizes, turn = [rng.choice(_SMALL) for _ in _TURNS], i % len(_TURNS)
        sizes[turn] = rng.choice([n for n in _LARGE if n * prod(sizes) <= _RUN * sizes[turn]])
        if i % 12 == 5:  # several clients of several steps differ
            sizes[0] = 2
        L = some(_SMOOTH)[0]
        found.append(Template(*sizes, L, L * some(_RATIOS)[0], some(_NEAR), some(_STEPS)[0], some(_NUMBERS),
                           rng.choice(((1,), (1, rng.randint(1, 9)))), rng.choice((2, 1, 3))))
    found += [AT_BOUNDS._replace(clients=m, local_steps=3, shares=_SHARES) for m in (1, 2)]
    found += [AT_BOUNDS._replace(numbers=numbers) for numbers in _VANISHING]
    return [*found, *(AT_BOUNDS._replace(mu=Fraction(99, 100), near=near) for near in _APART)]


#: the templates at which a claim that is proven elsewhere may be false
STRESS_TEMPLATES = (*_draw_templates(),)


@cache
def suspected_failure(claim: Claim, enough: int = 0, every: frozenset[str] = frozenset()) -> str:
    """The functions, sizes and numbers at which a claim may be false, in one line; empty if there are none, and at least
    ``enough`` templates have been evaluated. ``every``: sizes with proofs for all numbers, which stay small.

    Evaluates all ``STRESS_TEMPLATES``, except those that are large in a size for every number of which there are proofs,
    with fewer clients, rounds or steps where a run is too large; then by coordinate ascent from the worst of them. Where the
    solver's numbers say that the statement is false, a proof may say that it is true.

    Raises:
        ImportError: the solver is not installed.
    """
    look, known, large = partial(_look, claim), [], 0
    few = partial(look, enough=_TRUE)
    templates = [template._replace(**{size: min(getattr(template, size), _PROVEN) for size in every})
                 for number, template in enumerate(STRESS_TEMPLATES)
                 if number >= _COUNT or _TURNS[number % len(_TURNS)] not in every]
    for template, one in zip(templates, evaluations(few, templates, _fewer), strict=True):
        if one is not None and _is_false(claim, one):
            return one.case.scope
        known += [one] * (one is not None)
        large += one is not None and one.template[:3] == template[:3]
    if large < enough:
        return f"settings with one large size, as only {large} of {len(templates)} could be looked at"
    known = [Evaluation(*found, one.given, one.template) for one in sort_worst_first(known)[:_STARTS]
             if (found := look(one.given, one.template))]
    for one in ascend(look, known, _TRIALS):
        if _is_false(claim, one):
            return one.case.scope
    templates = [AT_BOUNDS, *(one.template for one in known)]
    for size, factors, template in growing(claim, _finer_looks(partial(_look, claim, most=_LONG)), templates, every):
        if factors[-1] <= 1 or not _is_proven(claim, {}, template):  # what is above one is else rounding
            shown = ", ".join(f"{factor:.3g}" for factor in factors)
            return f"larger {size}: the worst case is {shown} of what is allowed"
    return _noise_adds_up(claim, every)


def _noise_adds_up(claim: Claim, every: Collection[str]) -> str:
    """The size with which noise alone, from the optimum on, seems to add up to more than a statement allows, in words; empty
    if there is none. Extrapolates from three equally distant numbers, as noise adds up geometrically."""
    looks = _finer_looks(partial(_look, claim, most=_LONG, at_rest=True))
    sizes, large = [size for size in ("rounds", "local_steps") if size not in every], list[Template]()
    for size, (clients, numbers), mu in product(sizes, _AT_REST, _AT_REST_MU):
        template = AT_BOUNDS._replace(clients=clients, rounds=1, local_steps=1, mu=mu)
        if mu != _AT_REST_MU[0] and not _depends_on_mu(claim, template):
            continue
        factors = _factors(looks, template, size, numbers, _adds_up, large)
        if _adds_up(factors):
            shown = ", ".join(f"{factor:.3g}" for factor in factors)
            return f"larger {size}, from the optimum on: the worst case is {shown} of what is allowed"
    return ""


def _finer_looks(look: Evaluator) -> list[Evaluator]:
    """Evaluators of upper bounds of factors, of rough factors, and of factors."""
    return [partial(look, enough=inf), look, partial(look, rough=False)]


def _depends_on_mu(claim: Claim, template: Template) -> bool:
    try:
        return instantiate(claim, {}, template) != instantiate(claim, {}, template._replace(mu=_AT_REST_MU[0]))
    except ERRORS:
        return True


def geometric_limit(one: float, two: float, three: float) -> float:
    """The limit of a growing sequence A - C q^n, from its values at equally distant n; infinity if its steps do not
    shrink."""
    first, second = two - one, three - two
    if second <= _SETTLED:
        return three
    return three + second**2 / (first - second) if first > second else inf


def growing(claim: Claim, looks: Sequence[Evaluator], templates: Iterable[Template],
            every: Collection[str] = ()) -> Iterator[tuple[str, list[float], Template]]:
    """Yields where a claim seems to be false at sizes that are too large to evaluate: the size, the factors at one number,
    at twice and at four times that, which tend to more than one, and the template of the last. They do so from half as many
    more on too, if that can be evaluated. The other numbers are those of the template, or as near to their bounds as there.
    ``looks``: looks that tell more and more; where factors from one do not tend to more than one, the next is not asked.
    ``every``: sizes that are left alone."""
    large: list[Template] = []
    for template, size in product(templates, [size for size in ("rounds", "local_steps", "clients") if size not in every]):
        small = template._replace(clients=1, rounds=1, local_steps=1)
        try:
            start = max(2, instantiate(claim, {}, small).sizes[size])
        except ERRORS:
            continue
        tried = [tuple(start * half // 2 for half in halves) for halves in _HALVES]
        found = _factors(looks, small, size, tried[0], _seems_false, large)
        if not _seems_false(found):
            continue
        others = _factors(looks, small, size, tried[1], _seems_false, large)
        if len(others) < len(found) or _seems_false(others):
            yield size, found, small._replace(**{size: tried[0][-1]})


def _factors(looks: Sequence[Evaluator], template: Template, size: str, numbers: Sequence[int],
             false: Callable[[list[float]], bool], large: list[Template]) -> list[float]:
    """The factors at some numbers of a size, up to the first that cannot be evaluated; or upper bounds of them by an earlier
    one of the ``looks``, if these do not seem ``false``. Skips the last bound, of a long run, if that of a single pair of
    sides stays level (of several pairs another one may become the worst); and everything if the longest run is as large as
    one that was too ``large``."""
    if any(is_as_large(template._replace(**{size: numbers[-1]}), other) for other in large):
        return []
    *earlier, last = looks
    for look in earlier:
        found = [*_at_numbers(look, template, size, numbers[:-1], large)]
        bounds = [factor for factor, _ in found]
        if len(bounds) == len(numbers) - 1:
            level = bounds[-1] <= bounds[0] + _SAME and all(len(case.factors) == 1 for _, case in found)
            last_one = _at_numbers(look, template, size, numbers[-1:], large)
            bounds += bounds[-1:] if level else (factor for factor, _ in last_one)
        if inf not in bounds and (len(bounds) < len(numbers) or not false(bounds)):
            return bounds
    found = (factor for factor, _ in _at_numbers(last, template, size, numbers, large))
    return [*takewhile(lambda factor: factor < inf, found)]


def _at_numbers(look: Evaluator, template: Template, size: str, numbers: Iterable[int],
                large: list[Template]) -> Iterator[tuple[float, WorstCase]]:
    """Yields the evaluations where a size has these numbers in turn, until it has another one or the solver has no
    answer."""
    for number in numbers:
        at = template._replace(**{size: number})
        one = look({}, at)
        if one == ():
            large.append(at)
        if not one or one[1].setting.sizes[size] != number or {*one[1].factors} == {None}:
            return
        yield one


def _adds_up(factors: list[float]) -> bool:
    return len(factors) == len(_AT_REST[0][1]) and geometric_limit(*factors) > _ADDS_UP


def _seems_false(factors: list[float]) -> bool:
    return len(factors) == len(_HALVES[0]) and limit(*factors) > 1 + _STILL


def limit(one: float, two: float, four: float) -> float:
    """The limit of a growing sequence, from its values at n, 2 n, 4 n: of A - B / (n + s), or of A - C q^n if its steps
    shrink faster than those of 1/n; infinity if they shrink like neither."""
    first, second = two - one, four - two
    if four in (inf, one) or second <= _STILL:
        return four
    if first <= 0 or second >= 2 * first:
        return inf
    ratio = first / second
    if ratio > _FASTER:
        q = (sqrt(1 + 4 / ratio) - 1) / 2  # of n
        return four + first * q**3 / (1 - q)
    s = 2 * (2 - ratio) / (2 * ratio - 1)  # in units of n
    return four + first * (1 + s) * (2 + s) / (4 + s)


def _look(claim: Claim, given: Mapping[str, Fraction], template: Template, most: int = _LETTERS, **how: bool | float):
    try:
        one = worst_case(claim, given, template, most, proofs=False, **{"rough": True} | how)
    except ERRORS as error:
        return result_of_error(error)
    return max((factor for factor in one.factors if factor is not None), default=0.0), one


def _is_false(claim: Claim, one: Evaluation) -> bool:
    """Whether a statement is false by the solver's numbers with all their digits, and no proof is found that it is true."""
    if one.factor <= _FALSE or not one.case.sure:
        return False
    fine = _look(claim, one.given, one.template, rough=False, enough=_TRUE)
    return bool(fine) and fine[0] > _FALSE and fine[1].sure and not _is_proven(claim, one.given, one.template)


def _is_proven(claim: Claim, given: Mapping[str, Fraction], template: Template) -> bool:
    """Whether a statement has a proof where the solver's numbers say that it is false."""
    try:
        return worst_case(claim, given, template, _MOST, factors=False).certificate is not None
    except ERRORS:
        return False
