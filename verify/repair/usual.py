"""Tells the conditions and terms that statements about runs usually have: what is proposed is what a paper could say."""

from bounds.language.claim import BY_NUMBER, Claim
from bounds.language.names import LOSS, NAMES, ONE, SIZE, STEP
from bounds.language.operators import sigma_sq_client
from verify.repair.atoms import Atom, Product

__all__ = ["is_usual_condition", "is_usual_term"]

_DRAWN = {"participants", "clients"}
_TIMES = {"r", "t"}
_NOISE = {"sigma", "sigma_sq"}
_GRADIENT = (2, -2)  # unit of squared gradients and variances


def is_usual_condition(one: Product, sign: str) -> bool:
    """Whether a condition "product sign number" on a run is of a usual kind: a bound on the step size from above, with
    curvatures, sizes and pure numbers; a ratio of constants; one size, or the share of the clients that take part; or that
    there are enough rounds."""
    steps = sum(power for atom, power in one.powers if atom.unit == STEP)
    sizes = {str(atom.formula) for atom in one.atoms if _is_size(atom)}
    if steps:
        return (steps > 0) == (sign[0] == "<") and all(power > 0 or atom.unit == ONE for atom, power in one.powers)
    if any(atom.formula.is_Add for atom in one.atoms):  # L + mu belongs to step sizes
        return False
    if not sizes or one.size == 1:
        return True
    if sizes == _DRAWN:
        return len(one.atoms) == 2 and len({power for _, power in one.powers}) == 2
    rounds = [power for atom, power in one.powers if str(atom.formula) == "rounds"]
    return sizes == {"rounds"} and (rounds[0] > 0) == (sign[0] == ">")


def is_usual_term(claim: Claim, one: Product) -> bool:
    """Whether a term of this shape is usual in a bound on a run: it is divided by the number of rounds alone, or, if it is a
    variance or a dissimilarity, by the number of clients that are drawn, or, if it is a variance, by the local steps and by
    the number of clients of equal weights; it grows with the number of clients only where some are drawn; and what holds in
    every round does not depend on how many there are."""
    each_round = any(str(index) in _TIMES for index, *_ in claim.statement.over)
    squares = [atom for atom in one.atoms if tuple(atom.unit) == _GRADIENT]
    noise = any(str(atom.formula) in _NOISE or atom.formula.has(sigma_sq_client) for atom in squares)
    drawn = claim.procedure is not None and claim.procedure.sampling in BY_NUMBER
    for atom, power in one.powers:
        name = str(atom.formula)
        if not _is_size(atom):
            if power < 0 and atom.unit in (ONE, LOSS):  # numbers of at least 1, and gaps
                return False
        elif name == "rounds":
            if each_round:
                return False
        elif power < 0:
            averaged = {"participants": squares and drawn, "local_steps": noise,
                        "clients": noise and not drawn and claim.procedure.equal_weights}
            if not averaged.get(name):
                return False
        elif name in _DRAWN and not drawn:
            return False
    return True


def _is_size(atom: Atom) -> bool:
    return atom.unit == ONE and any(NAMES[s.name].source == SIZE for s in atom.formula.free_symbols if s.name in NAMES)
