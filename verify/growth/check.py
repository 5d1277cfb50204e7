"""Checks certificates of growth, and certificate files of either kind.

Every member refutes the claim with an explicit constant, and is checked as any other certificate. What is checked besides
keeps somebody from calling unrelated counterexamples growth: each constant is nearly the largest that its member refutes;
a member's size is what it has of what moves; along a size or a number nothing else moves but what must; and the constants
grow by a power of the size.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isfinite, log
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from verify.checker.formats import FORMATS, shows
from verify.checker.limits import FRACTION, parse_number
from verify.checker.operators import SENSELESS, senseless
from verify.exact import check as single
from verify.exact.alone import CheckResult, against, read
from verify.growth.beyond import exponent_beyond, farthest_size, least_power, ratio_beyond
from verify.growth.certificate import FORMAT
from verify.growth.fit import OCTAVES, fit
from verify.growth.limits import FREE_WEIGHT, SCALE, largest_named, least_factor
from verify.growth.order import hides_logarithms, with_constant

__all__ = ["about", "check", "check_file", "claim_of", "growth_ends", "largest_member"]

_FIELDS = ("format", "claim", "reading", "along", "constants_may_use", "members")
_MEMBER = ("size", "constant", "certificate")
_MOST_MEMBERS = 64
_NEARLY = 1.01  # how far a constant may stay below the largest that its member refutes
_LARGE = 10**6  # constant that numbers moving apart must refute
_LONG = 1000  # number in a claim that a size must exceed in the end
_GOES_ON = 0.5  # share of the exponent that is left far beyond the last member

#: where powers of logarithms are hidden: the least exponent, and the share of the first one that the last must have
_BEYOND_LOGARITHMS, _LASTS_BESIDE_LOGARITHMS = 0.4, 0.8

#: parts of an instance that have an entry for every time; those of a shorter run are the first of a longer one's
_OF_TIMES = ("epsilon", "available", "eta_l")


def check(data: Mapping[str, Any], claim: Claim) -> CheckResult:
    """Whether a growth certificate refutes the claim: see the module."""
    try:
        return _checked(data, claim)
    except (*SENSELESS, NotImplementedError) as error:
        senseless(error)
        return CheckResult(False, f"it cannot be read as growth: {type(error).__name__}: {error}")


def growth_ends(data: Mapping[str, Any], claim: Claim) -> bool:
    """Whether the members of a growth certificate that is refused are one instance whose growth ends beyond the last one."""
    last, constants = data["members"][-1]["certificate"], [_constant(member) for member in data["members"]]
    if len(constants) <= OCTAVES or None in constants:
        return False
    growth = fit([float(parse_number(member["size"], FRACTION)) for member in data["members"]], [*map(float, constants)])
    return any(_ends_beyond(last, growth.slope, data["along"], claim))


def _checked(data: Mapping[str, Any], claim: Claim) -> CheckResult:
    uses = None if claim.constants_may_use is None else list(claim.constants_may_use)
    if data.keys() != {*_FIELDS} or data["format"] != FORMAT:
        return CheckResult(False, f"a {FORMAT} has {', '.join(_FIELDS)}; got {', '.join(data)}")
    if (data["claim"], data["reading"], data["constants_may_use"]) != (claim.id, claim.reading, uses):
        return CheckResult(False, f"the certificate does not state what {claim.id} states")
    members = data["members"]
    if not isinstance(members, list) or not 1 <= len(members) <= _MOST_MEMBERS:
        return CheckResult(False, f"there must be between 1 and {_MOST_MEMBERS} members")
    for member in members:
        if member.keys() != {*_MEMBER}:
            return CheckResult(False, f"a member has {', '.join(_MEMBER)}; got {', '.join(member)}")
        size, constant = parse_number(member["size"], FRACTION), _constant(member)
        if size < 0 or (constant is not None and (constant <= 0 or size == 0)):
            return CheckResult(False, "constants must be positive, and so must sizes, except where the right side vanishes")
        result = single.check(member["certificate"], with_constant(claim, constant))
        if not result.accepted:
            return CheckResult(False, f"size {member['size']}: {result.reason}", result.left, result.right)
        if result.right.startswith("-"):
            return CheckResult(False, f"size {member['size']}: the right side is negative", result.left, result.right)
    for objection in _objections(members, data["along"], claim):
        return CheckResult(False, objection)
    summary = f"{len(members)} members, each a counterexample; {_refuted_constants(members)}"
    return CheckResult(True, summary, result.left, result.right)


def _constant(member: Mapping[str, Any]) -> Fraction | None:
    return None if member["constant"] is None else parse_number(member["constant"], FRACTION)


def _refuted_constants(members: Sequence[Mapping[str, Any]]) -> str:
    first, last = _constant(members[0]), _constant(members[-1])
    if first is None or last is None:
        return "the right side is not positive, so that no constant is large enough"
    return f"constants from {float(first):.4g} to {float(last):.4g} are refuted"


def _objections(members: Sequence[Mapping[str, Any]], along: str, claim: Claim) -> Iterator[str]:
    """Yield the reasons why the members show no growth."""
    uses, limits = claim.constants_may_use, {str(symbol): towards for symbol, towards in claim.limits}
    constants, certificates = [_constant(m) for m in members], [m["certificate"] for m in members]
    sizes = [parse_number(m["size"], FRACTION) for m in members]
    vanishing = [constant is None for constant in constants]
    if any(vanishing) and not all(vanishing):
        yield "some members have a constant and others none"
        return
    if all(vanishing):
        yield from _vanishes_for_a_while(certificates[-1], [along] if uses is None else [*limits], claim)
    if all(vanishing) and (uses is not None or (along in limits and certificates[0]["values"].get(along) == "0")):
        return  # each member alone refutes every constant
    if uses is None and along not in limits:
        yield f"constants may depend on {along}; the limit is that of {', '.join(limits) or 'nothing'}"
        return
    if len(members) <= OCTAVES:
        yield f"{len(members)} members show no growth; at least {OCTAVES + 1} do"
        return
    falls = limits.get(along) == 0
    if not all(a > b if falls else a < b for a, b in pairwise(sizes)):
        yield f"the sizes of the members do not {'fall' if falls else 'grow'} throughout"
        return
    ratios = [1.0 if constant is None else float(constant) for constant in constants]
    if not all(vanishing):
        growth = fit([float(size) for size in sizes], ratios)
        if not growth.rising or any(a >= b for a, b in pairwise(ratios)):
            yield "the constants do not grow throughout by a power of the size"
        elif not growth.is_sustained:
            yield f"the growth ends: its exponent is {growth.last:.2f} at last, {growth.slope:.2f} on the average"
        elif hides_logarithms(claim) and (why := like_a_logarithm([float(size) for size in sizes], ratios)):
            yield why
        yield from _too_near(certificates[-1], ratios[-1], along, claim)
        if uses is None or claim.setting == "algebra" or _is_noisy(certificates[-1]) or (
                not _moved_besides(certificates[0], certificates[-1], along)):  # of one instance, whose growth may end
            yield from _ends_beyond(certificates[-1], growth.slope, along, claim)
        for member in members:
            left, right = (about(member["certificate"][side]) for side in ("left", "right"))
            above, below = (left, right) if member["certificate"]["statement"]["relation"] == "<=" else (right, left)
            if above > _NEARLY * below:
                yield f"size {member['size']}: its constant is not nearly the largest that it refutes"
    yield from _untied(certificates, sizes, along)
    first = certificates[0]
    if {*along.split(" and ")} & {"clients", "participants"} and uses is None:
        yield from _other_clients(certificates)
    for member, other in zip(members[1:], certificates[1:], strict=True):
        moving = [name for name in uses or () if first["values"].get(name) != other["values"].get(name)]
        if uses is None:
            moving = _moved_besides(first, other, along)
        if moving:
            yield f"size {member['size']}: constants may depend on {', '.join(moving)}, which differs between members"


def like_a_logarithm(sizes: Sequence[float], ratios: Sequence[float]) -> str:
    """Explain why a power of the logarithm of the size may have grown as these ratios did; empty where none of a moderate
    power has.

    The exponent of (a + log size)^p between neighbours is p/(a + log size): it is small, or it falls to half where the
    logarithm doubles.
    """
    logs, slopes = [abs(log(size)) for size in sizes], []
    for (x, low), (y, high) in pairwise(zip(logs, ratios, strict=True)):
        slopes.append(log(high / low) / (y - x))
    if not 0 < 2 * logs[0] <= logs[-1]:
        return (f"logarithms may hide this growth: that of the size must at least double; it goes from {logs[0]:.3g} to "
                f"{logs[-1]:.3g}")
    if min(slopes) < _BEYOND_LOGARITHMS or slopes[-1] < _LASTS_BESIDE_LOGARITHMS * slopes[0]:
        return (f"logarithms may hide this growth: its exponent goes from {slopes[0]:.2f} to {slopes[-1]:.2f}, at least "
                f"{min(slopes):.2f}")
    return ""


def _too_near(last: Mapping[str, Any], constant: float, along: str, claim: Claim) -> Iterator[str]:
    """Whether the last member is so near that the growth may end beyond it."""
    if along == SCALE:
        if constant < _LARGE:
            yield f"numbers that move apart must refute a constant of {_LARGE}; the last one is {constant:.4g}"
        return
    named, enough = largest_named(claim), least_factor(claim)
    for name in along.split(" and "):
        amount = _amount(last, name)
        if name not in last["sizes"] and amount is not None and not (
                amount >= enough or 0 < amount <= Fraction(1, enough)):
            yield f"{name} is {float(amount):.4g} in the last member; it must be at least {enough}, or at most 1/{enough}"
        followed = not _is_noisy(last) or farthest_size(last, name) is not None
        if name in last["sizes"] and amount is not None and amount < named and (named > _LONG or not followed):
            yield f"{name} is {amount} in the last member, and the claim has the number {named}, beyond which growth may end"


def _is_noisy(certificate: Mapping[str, Any]) -> bool:
    """Whether an instance has noise; members with noise are smaller than others."""
    return any(certificate["instance"].get("noise", ()))


def _ends_beyond(last: Mapping[str, Any], slope: float, along: str, claim: Claim) -> Iterator[str]:
    """Whether the growth ends beyond the last member, as far as float64 follows it."""
    found, named = exponent_beyond(last, claim, along), largest_named(claim)
    if found is None:
        return
    exponent, far = found
    if exponent < _GOES_ON * slope:
        yield f"the growth ends beyond the last member: its exponent is {exponent:.2f} up to {far}, {slope:.2f} before"
    elif far ** least_power(claim, along) < named:
        yield f"{along} is followed up to {far}, and the claim has the number {named}, beyond which growth may end"


def _vanishes_for_a_while(last: Mapping[str, Any], names: Sequence[str], claim: Claim) -> Iterator[str]:
    """Whether the right side is positive again along every limit of a size that float64 follows."""
    far = {name: farthest_size(last, name) for name in names}
    ratios = [ratio_beyond(last, claim, name, size) for name, size in far.items() if size is not None]
    if ratios and len(ratios) == len(far) and all(ratio is not None and isfinite(ratio) for ratio in ratios):
        yield f"the right side vanishes for small sizes alone: it is positive up to {max(far.values())}"


def _other_clients(certificates: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Whether an instance with more clients has clients that no small member has, or differs in anything but clients."""
    instances = [certificate["instance"] for certificate in certificates]
    if "atoms" in instances[0]:
        yield "clients with samples are not copied"
        return
    rows = [_clients(certificate) for certificate in certificates]
    known = [row for several in rows[:_FIRST] for row in several]
    for certificate, instance, clients, fewer in zip(certificates[1:], instances[1:], rows[1:], rows[:-1], strict=True):
        moved = [name for name in {*instance, *instances[0]} - {*_FOLLOWS, "initial"}
                 - (_parts_of_clients(instance) & _parts_of_clients(instances[0]))
                 if not _same(name, instances[0].get(name), instance.get(name))]
        if moved or clients[:len(fewer)] != fewer or any(row not in known for row in clients):
            others = f", or another {' and '.join(sorted(moved))}" if moved else ""
            yield f"a member with {certificate['sizes']['clients']} clients has others than copies of the first{others}"


def _parts_of_clients(instance: Mapping[str, Any]) -> set[str]:
    """Names of the parts of an instance that have an entry for every client."""
    return {name for name in _OF_CLIENTS if isinstance(instance.get(name), list)}


def _clients(certificate: Mapping[str, Any]) -> list[list]:
    """The data of each client in an instance, with its weight relative to the first one's."""
    instance = certificate["instance"]
    weights = [Fraction(weight) for weight in instance["client_weight"]]
    arrays = [instance[name] for name in sorted(_parts_of_clients(instance))]
    by_round = [*zip(*instance.get("available", ()), strict=True)]
    states = [array for name, array in instance.get("initial", {}).items() if name.startswith("client_")]
    return [[weight / weights[0], by_round[k][:1] if by_round else (), *(array[k] for array in (*arrays, *states))]
            for k, weight in enumerate(weights)]


#: parts of an instance that may have an entry for every client, and parts that follow from the clients
_OF_CLIENTS = ("center", "curvature", "half_tangent", "pieces", "offset", "priority", "noise", "included", "x_local")
_FOLLOWS = ("x_star", "client_weight", "available")
_FIRST = 3  # members among which every client occurs


def about(side: str) -> float:
    """Return a side of a certificate as a float: a fraction, or the middle of an interval."""
    low, _, high = side.partition(" to ")
    ends = [float(Fraction(end)) for end in (low, high or low)]
    return sum(ends) / 2


def _untied(certificates: Sequence[Mapping[str, Any]], sizes: Sequence[Fraction], along: str) -> Iterator[str]:
    """Whether the sizes of members are, up to one factor, what they have of what moves."""
    if along == SCALE:
        rows = [list(_numbers(certificate["instance"])) for certificate in certificates]
        if len({len(row) for row in rows}) > 1 or any(_power(column, sizes) is None for column in zip(*rows, strict=True)):
            yield "along a scale every number of the instance is multiplied by a power of the size"
        return
    for name in along.split(" and "):
        have = [_amount(certificate, name) for certificate in certificates]
        if None in have or len({amount / size for amount, size in zip(have, sizes, strict=True)}) > 1:
            yield f"the sizes of the members are not in proportion to their {name}"


def _amount(certificate: Mapping[str, Any], name: str) -> Fraction | None:
    """The value of a size, of a number, or of the free clients' weight in an instance."""
    instance = certificate["instance"]
    if name == FREE_WEIGHT and "client_weight" in instance:
        pairs = zip(instance["client_weight"], instance["priority"], strict=True)
        return sum((Fraction(weight) for weight, priority in pairs if not priority), Fraction(0))
    value = certificate["sizes"].get(name, certificate["values"].get(name))
    return Fraction(value) if isinstance(value, int | str) else None


def _numbers(data: Any) -> Iterator[Fraction]:
    if isinstance(data, Mapping):
        data = [data[name] for name in sorted(data)]
    if isinstance(data, list):
        for entry in data:
            yield from _numbers(entry)
    else:
        yield Fraction(data)


def _power(column: Sequence[Fraction], sizes: Sequence[Fraction]) -> float | None:
    """The power of the size with which a number moves; None where it moves otherwise."""
    if all(value == column[0] for value in column):
        return 0.0
    if any(value * column[0] <= 0 for value in column):
        return None
    powers = [log(b / a) / log(t / s) for (a, b), (s, t) in zip(pairwise(column), pairwise(sizes), strict=True)]
    return powers[0] if max(powers) - min(powers) < 1e-6 else None


def _moved_besides(first: Mapping[str, Any], other: Mapping[str, Any], along: str) -> list[str]:
    """Parts of two members that differ though only ``along`` may: every number but those that a hypothesis defines by a
    formula, those that bound something and may be enlarged at will, and those that a hypothesis limits by what moves."""
    names, found = along.split(" and "), []
    sizes = {*names, *(("iterations",) if {*names} & {"rounds", "local_steps"} else ()), *(
        ("rounds",) if "iterations" in names else ())}
    if {*names} & {"clients", "participants"}:
        sizes |= {"clients", "participants"}
    found += [name for name in first["sizes"] if name not in sizes and first["sizes"][name] != other["sizes"].get(name)]
    if "clients" not in sizes:
        for name in {*first["instance"], *other["instance"]}:
            if not _same(name, _part(first, name, along), _part(other, name, along)):
                found.append(name)
    for name in {*first["values"], *other["values"]} - {*names}:
        pair = first["values"].get(name), other["values"].get(name)
        moves = _defined(name, first) or _enlarged_at_will(name, first) or _limited(name, first, names)
        if not moves and not _same(name, *pair):
            found.append(name)
    return sorted(found)


def _part(certificate: Mapping[str, Any], name: str, along: str):
    """A part of an instance, without weights of free clients where these are what moves."""
    instance = certificate["instance"]
    if name == "client_weight" and along == FREE_WEIGHT:
        return [weight for weight, priority in zip(instance[name], instance["priority"], strict=True) if priority]
    return instance.get(name)


def _same(name: str, a: Any, b: Any) -> bool:
    if name in _OF_TIMES and isinstance(a, list) and isinstance(b, list):
        return all(x == y for x, y in zip(a, b, strict=False))
    return a == b


def _defined(name: str, certificate: Mapping[str, Any]) -> bool:
    """Whether a hypothesis says by a formula what a name is, and does not itself mention it."""
    return any(rule["relation"] == "==" and (rule["left"] if isinstance(rule["left"], str) else rule["left"][0]) == name
               and not _mentions(name, rule["right"]) for rule in certificate["hypotheses"])


def _enlarged_at_will(name: str, certificate: Mapping[str, Any]) -> bool:
    """Whether a number stands in hypotheses alone, and there always alone on the larger side: a larger one is as good."""
    if _mentions(name, [certificate["statement"], certificate["definitions"]]):
        return False
    for rule in certificate["hypotheses"]:
        larger, smaller = ("right", "left") if rule["relation"] == "<=" else ("left", "right")
        if _mentions(name, [rule[smaller], rule["over"]]):
            return False
        if _mentions(name, rule[larger]) and (rule[larger] != name or rule["relation"] == "=="):
            return False
    return True


def _limited(name: str, certificate: Mapping[str, Any], moving: Sequence[str]) -> bool:
    """Whether a hypothesis bounds a number by what moves, so that it cannot stay as it is."""
    for rule in certificate["hypotheses"]:
        for side, other in (("left", "right"), ("right", "left")):
            if rule[side] == name and any(_mentions(size, rule[other]) for size in moving):
                return True
    return False


def _mentions(name: str, data: Any) -> bool:
    if isinstance(data, Mapping):
        return any(_mentions(name, value) for key, value in data.items() if key != "text")
    return any(_mentions(name, entry) for entry in data) if isinstance(data, list) else data == name


# files ----------------------------------------------------------------------------------------------------------------
def claim_of(data: Mapping[str, Any], claims: Mapping[str, Claim] | None = None) -> Claim:
    """The claim that a certificate names, of ``claims`` if they are given, else of the registry.

    Raises:
        LookupError: there is none of that id.
    """
    from bounds.registry.claims import find_claim

    name = data.get("claim")
    if not isinstance(name, str):
        raise LookupError(f"the certificate names no claim; got {name!r}")
    if claims is None:
        try:
            found = find_claim(name)
        except LookupError:
            raise LookupError(f"the certificate is about {name!r}, which is not registered; give --statement FILE, the file "
                              "of that claim") from None
    elif name not in claims:
        raise LookupError(f"the certificate is about {name!r}; given are {', '.join(claims) or 'no claims'}; give "
                          "--statement FILE, the file of that claim")
    else:
        found = claims[name]
    if found.id != name:
        raise LookupError(f"the certificate is about {name!r}; that claim's id is {found.id!r}")
    return found


def largest_member(path: str | Path, claims: Mapping[str, Claim] | None = None) -> tuple[dict[str, Any], Claim]:
    """A certificate file and the claim that it refutes; of a growth certificate the last member, and its claim with that
    member's constant. Raises ValueError for what is no certificate, LookupError for a claim that is not here."""
    data = _read(path)
    if data["format"] != FORMAT and shows(data) != "refuted":
        raise ValueError(f"{path} is a proof, and has no run that could be replayed; `fedtheory check` checks it")
    claim = claim_of(data, claims)
    if data["format"] != FORMAT:
        return data, claim
    try:
        member = data["members"][-1]
        return member["certificate"], with_constant(claim, _constant(member))
    except (LookupError, TypeError) as error:
        raise ValueError(f"{path} is not a complete growth certificate") from error


def check_file(path: str | Path, claims: Mapping[str, Claim] | None = None,
               statement: Mapping[str, Any] | None = None) -> CheckResult:
    """Check a certificate file of either kind against the claim of its id: of ``claims``, of the registry, or against a
    ``statement`` as :func:`verify.exact.statement.statement_of` writes it.

    Raises ValueError for a file that is no certificate. A claim that is not here is a rejection.
    """
    data = _read(path)
    if statement is not None:
        return against(data, statement)
    try:
        claim = claim_of(data, claims)
    except LookupError as error:
        return CheckResult(False, f"nothing to compare it with: {error.args[0]}")
    return (check if data["format"] == FORMAT else single.check)(data, claim)


def _read(path: str | Path) -> dict[str, Any]:
    data = read(path)
    if data.get("format") not in (*FORMATS, FORMAT):
        *formats, last = map(repr, (*FORMATS, FORMAT))
        raise ValueError(f"{path} is not a certificate: expected format {', '.join(formats)} or {last}, "
                         f"got {str(data.get('format'))[:60]!r}; others are not read")
    return data

