"""What a paper states, in plain Python: both sides, and all that stands around them. A claim is compared with its row.

    Row(left, right, "<=", over=(every_step,), given="assumption-1 assumption-4 small-step", variables="eta; C",
        method="fedavg sampling=with-replacement")

A table ``ROWS`` has rows by ids without the paper. ``but(row, given=...)`` is another reading: the row with what differs.
Beside the table a paper's module has ``SUPPOSED``, the content of every name in ``given``, and ``DOMAINS``.

Everything is written from the paper's text, never from the claim: a row that is made of the claim agrees with any claim.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from bounds.language.claim import Condition, Procedure, Variable
from tests.bounds.claim_values import reading_of, same

__all__ = [
    "CASES", "SEEDS", "Assumed", "Relation", "Row", "Worlds", "but", "compare", "compare_definition", "compare_hypotheses",
    "compare_sides", "compare_statement", "compare_variables", "method_of", "row_of", "rows_by_id",
    "variable_text",
]

SEEDS = (1, 2)
#: a statement is compared at about as many values of its indices, spread over all
CASES = 30


class Relation(NamedTuple):
    """``left sign right`` at all values of the indices.

    ``left`` and ``right`` are functions of the world and the indices. ``over`` has, for each index, a function of the world
    and the indices before it: the values that the index takes, in order.
    """

    left: Callable
    sign: str
    right: Callable
    over: tuple[Callable, ...] = ()


class Assumed(NamedTuple):
    """A numbered assumption: its conditions; an inequality for every function f, or one that holds on all of R^dim."""

    conditions: tuple[Relation, ...] = ()
    for_all_functions: Relation | None = None
    everywhere: Relation | None = None


@dataclass(frozen=True)
class Row:
    """A statement of a paper.

    Args:
        left, right: both sides, as functions that ``sides`` of the paper's module calls; None where ``sides`` has them from
            elsewhere.
        sign: the relation, ``<`` and ``>`` where it is strict.
        over: as in :class:`Relation`, for the indices of the statement.
        given: names of the hypotheses, separated by spaces. Each is an :class:`Assumed` in the table ``SUPPOSED`` of the
            paper's module, under the assumption's id without the paper, or a Relation or a tuple of them.
        variables: names of the free quantities, separated by ``;``, each with its domain (``B: real below 1``) where it is
            not the one that ``DOMAINS`` has for the name.
        method: ``algebra`` and ``point`` for claims about numbers and about one time, else the algorithm's name and what is
            not its default, such as ``fedavg sampling=bernoulli equal_weights eta_g=1``.
        limits: of a statement with hidden constants, what goes where: ``rounds -> oo, L -> oo``.
        constants_may_use: names of what the hidden constants may depend on, separated by spaces; None: on all but these.
        exists: a number that is said to exist, as (name, lower end, upper end, ``"[)"``), the ends functions of the world.
    """

    left: Callable | None = None
    right: Callable | None = None
    sign: str = "<="
    over: tuple[Callable, ...] = ()
    given: str = ""
    variables: str = ""
    method: str = ""
    limits: str = ""
    constants_may_use: str | None = None
    exists: tuple | None = None


def but(row: Row, **changes) -> Row:
    """The row in another reading."""
    return replace(row, **changes)


def row_of(rows, claim) -> Row | None:
    """The row of a claim in a paper's module: from its function ``row``, or of the claim's id in ``ROWS``."""
    if hasattr(rows, "row"):
        return rows.row(claim)
    row = rows_by_id(rows.ROWS)(claim)
    return row if isinstance(row, Row) else None


def rows_by_id(table: Mapping[str, Row]) -> Callable:
    """Returns ``row`` of a table whose keys are ids without the paper, separated by spaces."""
    by_id = {name: row for ids, row in table.items() for name in ids.split()}
    return lambda claim: by_id.get(claim.id.partition("/")[2])


# texts ---------------------------------------------------------------------------------------------------------------
def variable_text(variable: Variable) -> str:
    """Its domain, such as ``positive``, ``integer from 1 to 4``, ``real below 1``, ``vector [rounds + 1, clients]``."""
    text = variable.domain
    if variable.domain == "integer":
        text += f" from {variable.low}" + (f" to {variable.high}" if variable.high is not None else "")
    if variable.below is not None:
        text += f" below {variable.below}"
    return text + (f" [{', '.join(size for _, size in variable.indices)}]" if variable.indices else "")


def method_of(claim) -> str:
    """What ``method`` of a row says of this claim."""
    if claim.setting != "run":
        return claim.setting
    method, plain = claim.procedure, Procedure()
    words = [method.base]
    for name in ("free_clients", "indicator", "sampling", "free", "strict", "equal_weights", "replaced"):
        value = getattr(method, name)
        if value != getattr(plain, name):
            words.append(name if value is True else f"{name}={value}")
    return " ".join([*words, *(f"{name}={value}" for name, value in method.options)])


# comparison ----------------------------------------------------------------------------------------------------------
class Worlds:
    """The worlds in which the claims of a paper are compared with its rows, one for each seed."""

    def __init__(self, rows, reading: frozenset[str], definitions: Mapping):
        self.worlds = [rows.world(seed, reading) for seed in SEEDS]
        self.values = [rows.values(w, definitions) for w in self.worlds]
        self.wanted: dict = {}

    def __iter__(self):
        return iter(enumerate(zip(self.worlds, self.values, strict=True)))

    def of_relation(self, relation: Relation, seed: int) -> list:
        """(indices, left, right) of a relation of the paper in the world of a seed."""
        key = (id(relation), seed)
        if key not in self.wanted:
            w = self.worlds[seed]
            places = _indices(w, relation.over)
            chosen = set(_spread(places))
            self.wanted[key] = relation, [
                (at, *((side(w, *at) for side in (relation.left, relation.right)) if at in chosen else (None, None)))
                for at in places]
        return self.wanted[key][1]

    def agree(self, condition: Condition, relation: Relation) -> bool:
        """Whether a condition of a claim is what the paper says: the same sign, ranges, and values of both sides."""
        try:
            return condition.sign == relation.sign and all(
                self._agree_in(seed, values, condition, relation) for seed, (_, values) in self)
        except (ArithmeticError, AssertionError, LookupError, TypeError, ValueError, AttributeError):
            return False

    def _agree_in(self, seed, values, condition, relation) -> bool:
        wanted, cases = self.of_relation(relation, seed), values.cases(condition.over)
        names = [index.name for index, _, _ in condition.over]
        assert wanted, "the paper's range is empty"
        return [at for at, _, _ in wanted] == [tuple(at[name] for name in names) for at in cases] and all(
            same(values.of(condition.left, at), left) and same(values.of(condition.right, at), right)
            for at, (_, left, right) in zip(cases, wanted, strict=True) if left is not None)


def _indices(w, over) -> list[tuple[int, ...]]:
    places: list[tuple[int, ...]] = [()]
    for values in over:
        places = [(*at, i) for at in places for i in values(w, *at)]
    return places


def _spread(cases):
    return cases[:: max(1, len(cases) // CASES)]


def compare_sides(rows, claim, worlds: Worlds) -> bool:
    """Compares both sides of a claim with the paper's; False where the paper's rows have none. Raises AssertionError."""
    compared = 0
    for seed, (w, values) in worlds:
        for at in _spread(values.cases(claim.statement.over)):
            key = ("sides", seed, tuple(at.items()))
            if key not in worlds.wanted:
                worlds.wanted[key] = rows.sides(claim, w, at)
            wanted = worlds.wanted[key]
            if wanted is None:
                return False
            for side, number in zip((claim.statement.left, claim.statement.right), wanted, strict=True):
                value = values.of(side, at)
                assert same(value, number), f"seed {SEEDS[seed]}, {at}: {value}, {number} in the paper, for {side}"
            compared += 1
    assert compared, "the statement was compared nowhere"
    return True


def compare_statement(rows, claim, worlds: Worlds, row: Row | None) -> bool:
    """Compares sides, relation and ranges; sides alone where the paper's module has no more."""
    found = compare_sides(rows, claim, worlds)
    if row is None:
        return found
    assert claim.statement.sign == row.sign, f"{claim.statement.sign}, {row.sign} in the paper"
    names = [index.name for index, _, _ in claim.statement.over]
    for _, (w, values) in worlds:
        ranges = [tuple(at[name] for name in names) for at in values.cases(claim.statement.over)]
        assert ranges == _indices(w, row.over), f"over {ranges}, {_indices(w, row.over)} in the paper"
    return found


def compare_hypotheses(rows, claim, worlds: Worlds, row: Row) -> None:
    """Compares assumptions and conditions: those of the paper, each with its content, and no others."""
    names = row.given.split()
    assert len(names) == len(set(names)), f"twice in {row.given}"
    supposed = {name: rows.SUPPOSED[name] for name in names}
    assumed = {name for name, content in supposed.items() if isinstance(content, Assumed)}
    ids = {_without_paper(assumption.id, claim.paper): assumption for assumption in claim.assumptions}
    assert set(ids) == assumed, f"assumptions {sorted(ids)}, {sorted(assumed)} in the paper"
    assert len(ids) == len(claim.assumptions), f"an assumption stands twice: {[a.id for a in claim.assumptions]}"
    for name, assumption in ids.items():
        compare_assumption(assumption, supposed[name], worlds)
    relations = [(name, r) for name, content in supposed.items() if name not in assumed
                 for r in ((content,) if isinstance(content, Relation) else content)]
    defined = {c.left.name for c in claim.conditions if c.relation == "==" and c.left.is_Symbol and not c.right.is_number}
    _match([c for c in claim.conditions if not _is_domain(c, defined, rows)], relations, worlds)


def _is_domain(condition: Condition, defined: set[str], rows) -> bool:
    """Whether a condition is the paper's domain of a number that a formula defines."""
    name = condition.left.name if condition.left.is_Symbol else ""
    domain = rows.DOMAINS.get(name, "") if name in defined else ""
    signs = [("positive", ">", 0), ("nonnegative", ">=", 0)]
    signs += [("below", "<", int(domain.rpartition(" ")[2]))] if " below " in domain else []
    return any(word in domain and (condition.sign, condition.right) == (sign, end) for word, sign, end in signs)


def compare_assumption(assumption, content: Assumed, worlds: Worlds) -> None:
    """Compares an assumption with the paper's."""
    _match(assumption.conditions, [(assumption.id, relation) for relation in content.conditions], worlds)
    for kind in ("for_all_functions", "everywhere"):
        own, wanted = getattr(assumption, kind), getattr(content, kind)
        assert (own is None) == (wanted is None), f"{assumption.id}: {kind}"
        assert own is None or worlds.agree(own, wanted), f"{assumption.id}: {kind}: {own}"


def _match(conditions, relations, worlds: Worlds) -> None:
    """Each condition is one of the relations, and each of these is there."""
    left = list(relations)
    for condition in conditions:
        one = next((pair for pair in left if worlds.agree(condition, pair[1])), None)
        assert one, f"{condition.left} {condition.sign} {condition.right} over {condition.over} is none of " + ", ".join(
            name for name, _ in left)
        left.remove(one)
    assert not left, "left out: " + ", ".join(name for name, _ in left)


def compare_variables(rows, claim, worlds: Worlds, row: Row) -> None:
    """Compares the free quantities, the algorithm, what is hidden in O(.), and the number that is said to exist."""
    wanted = {}
    for part in filter(None, map(str.strip, row.variables.split(";"))):
        name, _, domain = part.partition(":")
        wanted[name.strip()] = domain.strip() or rows.DOMAINS[name.strip()]
    own = {variable.name: variable_text(variable) for variable in claim.variables}
    assert own == wanted, f"variables {own}, {wanted} in the paper"
    assert len(own) == len(claim.variables), f"a variable occurs twice: {claim.variables}"
    assert claim.explicit == (not any(domain.startswith("hidden") for domain in own.values())), "explicit"
    method, printed = method_of(claim), row.method or rows.METHOD
    assert sorted(method.split()) == sorted(printed.split()), f"method {method}, {printed} in the paper"
    limits = ", ".join(f"{name} -> {limit}" for name, limit in claim.limits)
    assert limits == row.limits, f"limits {limits}, {row.limits} in the paper"
    used = row.constants_may_use
    assert claim.constants_may_use == (None if used is None else tuple(used.split())), "what constants may depend on"
    _compare_choice(claim.exists, row.exists, worlds)


def compare_definition(rows, definition) -> None:
    """Compares a definition with the paper's, at ``TIMES`` and the first clients. Raises AssertionError."""
    over = [(i, 0, 3) if str(i) == "k" else (i, rows.TIMES[0], rows.TIMES[-1]) for i in definition.indices]
    for seed in SEEDS:
        w = rows.world(seed)
        in_world = rows.values(w, {})
        for at in in_world.cases(over):
            assert same(in_world.of(definition.formula, at), rows.MEANINGS[definition.name](w, *at.values())), at


def _compare_choice(choice, wanted, worlds: Worlds) -> None:
    assert (choice is None) == (wanted is None), f"a number that exists: {choice}, {wanted} in the paper"
    if choice is None:
        return
    name, low, high, ends = wanted
    assert (choice.name, choice.open_low, choice.open_high) == (name, ends[0] == "(", ends[1] == ")"), str(choice)
    for _, (w, values) in worlds:
        assert same(values.of(choice.low), low(w)) and same(values.of(choice.high), high(w)), str(choice)


def _without_paper(name: str, paper: str) -> str:
    return name.removeprefix(f"{paper}/")


def compare(rows, claim, worlds: Worlds | None = None) -> bool:
    """Compares a claim with its row; False where another claim must state the same. Raises AssertionError."""
    worlds = worlds or Worlds(rows, reading_of(claim), claim.definitions)
    row = row_of(rows, claim)
    assert row is not None, "the paper's rows do not have this claim"
    compare_hypotheses(rows, claim, worlds, row)
    compare_variables(rows, claim, worlds, row)
    return claim.statement is None or compare_statement(rows, claim, worlds, row)

