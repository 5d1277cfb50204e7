"""A claim: one numbered statement of one paper, as data."""

import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, Self

import sympy as sp

from bounds.language import operators
from bounds.language.defining import defining
from bounds.language.functions import of_a_client
from bounds.language.names import CONSTANT, NAMES, symbol
from bounds.language.space import infimum

__all__ = ["BY_NUMBER", "DATA_SETS", "DISTINCT", "DOMAINS", "HIDDEN", "HOLDS", "INDEPENDENT", "KINDS", "RELATIONS",
           "SAMPLING", "SETTINGS", "Assumption", "Choice", "Claim", "Condition", "Definition", "Procedure", "Variable",
           "constants_at_all_points", "length_of", "parts_of_size"]

KINDS = ("theorem", "lemma", "proof step", "table entry", "prose", "experiment", "control", "derived", "assumption",
         "comparison")
#: relations of a condition, and how numbers are compared by them
HOLDS = {"<=": operator.le, "==": operator.eq, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
RELATIONS = tuple(HOLDS)

#: ``run``: about runs of an algorithm; ``point``: one fixed time with any local models; ``algebra``: numbers alone
SETTINGS = ("run", "point", "algebra")

#: how clients are sampled in each round: all of them, or some
SAMPLING = ("full", "with-replacement", "without-replacement", "li2020-scheme-2", "bernoulli", "bernoulli-expected")

#: what a claim that speaks of samples says of the data sets: expectations include them, or it is about every one
DATA_SETS = ("random", "any")

#: those under which a round has a given number of participants, and these are always distinct
BY_NUMBER, DISTINCT = SAMPLING[1:4], SAMPLING[2:4]

#: those under which every client decides by itself whether it takes part
INDEPENDENT = SAMPLING[4:]

#: constants to which a statement gives no value: as in O(.), and as in O(.) with a tilde, which may grow like any power of
#: the logarithm of what goes to its limit
HIDDEN = ("hidden", "hidden-log")

#: what a Variable may be
DOMAINS = ("positive", "nonnegative", "real", "integer", "vector", "binary", "simplex", *HIDDEN)


@dataclass(frozen=True)
class Condition:
    """``left relation right`` for all values of the indices in ``over``.

    ``over`` holds triples (index, lowest, highest), both ends included; later triples may use earlier indices. ``<`` and
    ``>`` are kept as ``<=`` and ``>=`` with ``strict``; ``sign`` is the relation as it is written.
    """

    left: Any
    relation: str
    right: Any
    over: tuple = ()
    strict: bool = False

    def __post_init__(self):
        if self.relation not in RELATIONS or (self.strict and self.relation == "=="):
            raise ValueError(f"unknown relation {self.relation!r}; allowed: {', '.join(RELATIONS)}")
        if self.relation in ("<", ">"):
            object.__setattr__(self, "relation", f"{self.relation}=")
            object.__setattr__(self, "strict", True)
        object.__setattr__(self, "left", _formula(self.left))
        object.__setattr__(self, "right", _formula(self.right))
        object.__setattr__(self, "over", tuple(tuple(map(_formula, triple)) for triple in self.over))

    def has(self, *parts) -> bool:
        """Whether a side has one of these parts, as sympy says it."""
        return any(sp.sympify(side).has(*parts) for side in (self.left, self.right))

    @property
    def sign(self) -> str:
        return self.relation[0] if self.strict else self.relation


def _formula(value):
    """``value`` as sympy; TypeError for a text, which sympy would run as code."""
    if isinstance(value, str):
        raise TypeError(f"a formula is made of symbols and numbers; got the text {value[:100]!r}")
    return sp.sympify(value, strict=True)


@dataclass(frozen=True)
class Assumption:
    """A hypothesis on the problem, with the paper's number.

    An instance must satisfy the ``conditions``. ``for_all_functions`` holds an inequality printed for a function ``f`` at
    all pairs of points ``u``, ``v`` (see ``bounds.language.functions``), which every client's loss must satisfy; the referee
    asks besides whether any function can. ``everywhere`` holds an inequality that the assumption states at all points u.
    """

    id: str
    name: str
    conditions: tuple[Condition, ...] = ()
    for_all_functions: Condition | None = None
    everywhere: Condition | None = None
    note: str = ""

    @property
    def at_all_points(self) -> tuple[Condition, ...]:
        """The inequalities about a function ``f`` at all points."""
        return tuple(c for c in (self.for_all_functions, self.everywhere) if c is not None)


@dataclass(frozen=True)
class Definition:
    """A quantity defined by a formula: ``name[indices] = formula``."""

    name: str
    indices: tuple
    formula: Any
    latex: str
    unit: str
    meaning: str
    source: str = ""

    @cached_property
    def symbol(self):
        """The quantity as it stands in formulas: an IndexedBase, or a Symbol if it has no index."""
        return sp.IndexedBase(self.name, real=True) if self.indices else sp.Symbol(self.name, real=True)


@dataclass(frozen=True)
class Choice:
    """``there is a name in [low, high] such that``: a number that a statement says to exist.

    ``open_low`` and ``open_high``: the interval is without that end. ``witness``: a formula of a value that may do; the
    claim with it put in is the reading ``reading_id`` (:func:`bounds.language.witness.witnessed`), in words ``reading``.
    """

    name: str
    low: Any
    high: Any
    open_low: bool = False
    open_high: bool = False
    witness: Any = field(default=None, compare=False)
    reading_id: str = field(default="witness", compare=False)
    reading: str = field(default="", compare=False)

    def __post_init__(self):
        object.__setattr__(self, "low", _formula(self.low))
        object.__setattr__(self, "high", _formula(self.high))
        if any(end.has(sp.oo, -sp.oo, sp.zoo, sp.nan) or self.name in names_in(end) for end in (self.low, self.high)):
            raise ValueError(f"{self.name}: the ends of an interval are finite, and do not use {self.name}; got {self}")
        if self.witness is not None:
            object.__setattr__(self, "witness", _formula(self.witness))
            if self.witness.has(sp.oo, -sp.oo, sp.zoo, sp.nan) or self.name in names_in(self.witness):
                raise ValueError(f"{self.name}: a witness is finite, and does not use {self.name}; got {self.witness}")

    def __str__(self) -> str:
        return f"{'(' if self.open_low else '['}{self.low}, {self.high}{')' if self.open_high else ']'}"

    @property
    def not_empty(self) -> Condition:
        """The condition that the interval is not empty."""
        return Condition(self.low - self.high, "<" if self.open_low or self.open_high else "<=", 0)


@dataclass(frozen=True)
class Procedure:
    """The algorithm of a claim, in words that ``verify`` maps to code.

    ``base`` is the method's registered name, with fixed ``options`` (name, value) of its maker, ordered by name. A
    hyper-parameter that the claim binds, as a Variable or by a condition, takes that value. ``equal_weights``: all p_k are
    equal, as in papers that write 1/m.

    ``free_clients``: whether there may be non-priority clients. ``sampling`` of priority clients: ``full``;
    ``with-replacement``, by p_k; ``without-replacement``, uniformly, where the server adds the sum of ``p_k m / s`` times
    the change of client k; ``li2020-scheme-2``, the same with models in place of changes; ``bernoulli``, each by itself
    with the probability ``participation``, averaged by the sum of their p_k; or ``bernoulli-expected``, the same clients,
    their changes times p_k over the probability. ``free``: ``always`` available or ``arbitrary`` participation.
    ``replaced``, of claims that speak of samples: ``any``: the claim is about every data set and each of its neighbours, and
    expectations are over the chance of the runs alone; ``random``: expectations include the data sets, the replaced sample
    and its replacement. None: not said; taken as ``random``.
    """

    base: str = "fedavg"
    free_clients: bool = False
    indicator: str = "broadcast"
    sampling: str = "full"
    free: str = "always"
    strict: bool = True
    options: tuple[tuple[str, Any], ...] = ()
    equal_weights: bool = False
    replaced: str | None = None

    def __post_init__(self):
        object.__setattr__(self, "options", tuple(sorted(self.options, key=lambda option: option[0])))

    @property
    def data_sets(self) -> str:
        """``replaced``, or what it is taken as."""
        return self.replaced or DATA_SETS[0]


@dataclass(frozen=True)
class Variable:
    """A free quantity of a ``point`` or ``algebra`` claim, or a free hyper-parameter of a ``run`` claim.

    ``domain``: ``positive``, ``nonnegative``, ``real``, ``integer`` (from ``low``), ``vector``, ``binary``,
    ``simplex`` (non-negative, summing to one over its last index) or one of ``HIDDEN`` (no value is given: the claim is not
    explicit). ``indices`` names the index ranges, for example ``(("k", "clients"),)`` with entries 0 .. clients - 1, or
    ``(("r", "rounds + 1"),)`` with entries 0 .. rounds; a size that is not one of the instance is a Variable itself. A
    number with ``below`` is strictly less than that.
    """

    name: str
    domain: str
    indices: tuple[tuple[str, str], ...] = ()
    low: int = 1
    high: int | None = None
    below: int | None = None

    def __post_init__(self):
        if self.below is not None and (self.domain not in ("positive", "nonnegative", "real") or self.indices):
            raise ValueError(f"{self.name}: only a number without indices lies below another; got {self.domain}")
        if self.domain not in DOMAINS:
            raise ValueError(f"{self.name}: unknown domain {self.domain!r}; allowed: {', '.join(DOMAINS)}")

    @property
    def sizes(self) -> set[str]:
        """The names of the sizes of the array."""
        return {parts_of_size(size)[0] for _, size in self.indices}


def parts_of_size(size: str) -> tuple[str, int]:
    """The name in the size of an array, and what is added to it: ``("rounds", 1)`` of ``rounds + 1``."""
    name, _, more = size.partition(" + ")
    return name, int(more or 0)


def length_of(size: str, sizes: Mapping[str, int]) -> int:
    """The number of entries of an array along an axis of this size."""
    name, more = parts_of_size(size)
    return sizes[name] + more


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement in one reading. Claims are equal only to themselves.

    Args:
        id: ``<paper>/<block>`` or ``<paper>/<block>@<reading>``.
        number: the paper's own number, with equation numbers.
        kind: one of ``KINDS``.
        setting: one of ``SETTINGS``.
        statement: what is claimed, a Condition; its ``over`` ranges over times and clients.
        assumptions, conditions: hypotheses. A condition ``symbol == formula`` defines that symbol (``defining``).
        reading: which reading of the print this is, in words.
        source: the paper, or None for what we derived (then ``derivation`` says how).
        procedure: the algorithm, for ``run`` claims.
        variables: free quantities beyond the instance's own.
        undefined: what is missing where the print has no formula; such a claim has no statement.
        limits: the order of a statement with constants hidden in O(.), as pairs (symbol, its limit ``sp.oo`` or 0) while
            everything else is fixed; ``free_weight`` is the total weight of the free clients.
        constants_may_use: names of what these hidden constants may depend on (``()``: absolute constants). None: on
            the whole instance but for the symbols of ``limits``.
        steps: ids of the claims from which the paper derives this one, in its order.
        compares: of a comparison, the ids of the claims whose bounds are its left and its right side.
        exists: a number that may be chosen for each instance. The claim says that for every instance that meets the
            hypotheses there is a value in the interval for which the statement holds; hypotheses that mention the number are
            conditions on that value. The instance's interval has a point.
    """

    id: str
    number: str
    kind: str
    setting: str
    statement: Condition | None
    assumptions: tuple[Assumption, ...] = ()
    conditions: tuple[Condition, ...] = ()
    reading: str = "as printed"
    source: str | None = None
    derivation: str = ""
    procedure: Procedure | None = None
    variables: tuple[Variable, ...] = ()
    explicit: bool = True
    note: str = ""
    undefined: str = ""
    limits: tuple[tuple[Any, Any], ...] = ()
    constants_may_use: tuple[str, ...] | None = None
    steps: tuple[str, ...] = ()
    compares: tuple[str, ...] = ()
    definitions: Mapping[str, Definition] = field(default_factory=dict, repr=False)
    exists: Choice | None = None

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"{self.id}: unknown kind {self.kind!r}; allowed: {', '.join(KINDS)}")
        if self.setting not in SETTINGS:
            raise ValueError(f"{self.id}: unknown setting {self.setting!r}; allowed: {', '.join(SETTINGS)}")
        if self.statement is None and not self.undefined:
            raise ValueError(f"{self.id}: a claim without a statement must say what is undefined")
        if self.source is None and not self.derivation:
            raise ValueError(f"{self.id}: a claim without a source must say how it is derived")

    def __repr__(self) -> str:
        return f"Claim({self.id}: {self.number})"

    def _repr_html_(self) -> str:
        return import_module("bounds.printing.notebook").claim_html(self)  # above, and only for who looks at it

    @property
    def paper(self) -> str:
        return self.id.split("/")[0]

    @property
    def block(self) -> str:
        return self.id.split("@")[0]

    @cached_property
    def hypotheses(self) -> tuple[Condition, ...]:
        """All conditions an instance must satisfy, the assumptions' first."""
        found = tuple(c for a in self.assumptions for c in a.conditions) + tuple(self.conditions)
        found += tuple(self._of_losses(found)) if self.setting != "algebra" else ()
        if self.exists is None or (self.exists.low - self.exists.high).is_negative:
            return found
        return (*found, self.exists.not_empty)

    def _of_losses(self, conditions: tuple[Condition, ...]) -> Iterator[Condition]:
        """Yield what the assumptions say of every loss at all points, of the loss of each client; a bound of gradients as
        one of ``G_lip``, which alone is the largest gradient of a loss of the instance.

        Without it an instance with other losses would meet the hypotheses.
        """
        relations = (*conditions, *([self.statement] if self.statement else []))
        slope, point = symbol("G_lip"), symbol("u")
        named = any(slope.name in names_in(side) for c in relations for side in (c.left, c.right))
        for said in (c for a in self.assumptions for c in a.at_all_points):
            factor, length = said.left.as_coeff_Mul()
            left = factor * slope ** (2 if type(length).__name__ == "norm2" else 1)
            bounds_slope = said.relation == "<=" and factor > 0 and _is_slope(length)
            if not bounds_slope or point in said.right.free_symbols:
                yield Condition(*of_a_client(said.left, said.sign, said.right), ((operators.k, 0, operators.clients - 1),))
            elif said.right != left and not any(c.relation == "==" and {c.left, c.right} == {left, said.right}
                                                for c in conditions):
                yield Condition(left, said.sign, said.right)
            elif not named:
                yield Condition(slope + 1, ">=", 0)  # it is a number; a bound on the bare name would choose it

    @cached_property
    def relations(self) -> tuple[Condition, ...]:
        """The hypotheses, and the statement if there is one."""
        return (*self.hypotheses, *([self.statement] if self.statement else []))

    @cached_property
    def formulas(self) -> tuple:
        """Both sides of the hypotheses and of the statement, and the formulas of the definitions behind them."""
        ends = () if self.exists is None else (self.exists.low, self.exists.high)
        return (*(side for c in self.relations for side in (c.left, c.right)), *ends,
                *(definition.formula for definition in self._used_definitions.values()))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in these formulas and in the ranges of their indices."""
        ranges = (end for c in self.relations for triple in c.over for end in triple[1:])
        return frozenset().union(*map(names_in, (*self.formulas, *ranges)))

    @cached_property
    def defining(self) -> Mapping[str, Condition]:
        """The hypothesis that defines each name by a formula (:func:`bounds.language.defining.defining`)."""
        lengths = {v.name: [size for _, size in v.indices] for v in self.variables if v.indices}
        if self.setting == "run":
            lengths["eta_l"] = ["iterations"]
        formulas = {name: definition.formula for name, definition in self._used_definitions.items()}
        places = defining(self.hypotheses, lengths, names_in, formulas)
        return {name: self.hypotheses[place] for name, place in places.items()}

    @cached_property
    def constants(self) -> tuple[str, ...]:
        """Names that the hypotheses define or bound: a bare symbol, an indexed one that a formula defines, or a constant of
        the language in a condition at all points.

        A condition with a bare symbol on one side binds it: ``==`` defines it, ``<=`` and ``>=`` give it the tightest
        value that holds for every index in ``over``. Later conditions may use earlier symbols.
        """
        found = []
        for condition in self.hypotheses:
            if condition.relation == "==" and isinstance(condition.left, sp.Indexed):
                found.append(str(condition.left.base.label))
            found += [str(side) for side in (condition.left, condition.right) if side.is_Symbol]
        found += [name for condition in self.hypotheses for name in sorted(constants_at_all_points(condition))]
        chosen = None if self.exists is None else self.exists.name
        return tuple(name for name in dict.fromkeys(found) if name != chosen)

    def used_definitions(self) -> dict[str, Definition]:
        """The definitions that the statement and the hypotheses use, directly or through others, by name."""
        return dict(self._used_definitions)

    @cached_property
    def _used_definitions(self) -> dict[str, Definition]:
        found: dict[str, Definition] = {}
        open_expressions = [side for c in self.relations for side in (c.left, c.right)]
        open_expressions += [] if self.exists is None else [self.exists.low, self.exists.high]
        while open_expressions:
            for name in names_in(open_expressions.pop()):
                if name in self.definitions and name not in found:
                    found[name] = self.definitions[name]
                    open_expressions.append(found[name].formula)
        return dict(sorted(found.items()))

    def variant(self, reading_id: str, reading: str, **changes) -> Self:
        """Return the same block in another reading."""
        return replace(self, id=f"{self.block}@{reading_id}", reading=reading, **changes)


@lru_cache(maxsize=4096)
def names_in(expression) -> frozenset[str]:
    """Names of all symbols and indexed bases in an expression."""
    expression = _formula(expression)
    return frozenset(s.name for s in expression.free_symbols if s.is_Symbol or isinstance(s, sp.IndexedBase)) | {
        a.base.label.name for a in expression.atoms(sp.Indexed)
    }


def _is_slope(e) -> bool:
    """Whether a part of a formula is the length of the gradient of a loss, or its square."""
    return type(e).__name__ in ("norm", "norm2") and type(e.args[0]).__name__ == "f_grad"


def constants_at_all_points(condition: Condition) -> set[str]:
    """The constants of the language in the formulas of a condition of which the least value over all points is taken."""
    words = condition.left.atoms(infimum) | condition.right.atoms(infimum)
    return {s.name for word in words for s in word.free_symbols if s.is_Symbol and s.name in NAMES
            and NAMES[s.name].source == CONSTANT}


def by_id(claims: Iterable[Claim]) -> dict[str, Claim]:
    """Claims by id; two claims with one id are an error that names it."""
    table: dict[str, Claim] = {}
    for claim in claims:
        if claim.id in table:
            raise ValueError(f"two claims have the id {claim.id!r}")
        table[claim.id] = claim
    return table
