"""Words for the numbers and instances in the evidence of a verdict."""

from fractions import Fraction

from bounds.language.claim import Claim

__all__ = ["describe_instance", "on_pieces", "own_numbers", "short_number"]

_LONGEST, _ENTRIES = 120, 4  # characters of the numbers in a line; entries of an array
_SHORT_BITS, _MOST_BITS = 40, 73  # of a fraction that is printed exactly: about 12 digits, 22 where six digits look whole


def on_pieces(claim: Claim, data: dict) -> str:
    """Describe on how many pieces of its interval the number that a claim says to exist fails; empty without such a
    number."""
    if claim.exists is None:
        return ""
    pieces = len(data["subdivision"]) - 1
    return (f" at the largest {claim.exists.name}; the statement is broken for every {claim.exists.name} in {claim.exists}, "
            f"on {pieces} piece{'s' * (pieces > 1)} of the interval")


def short_number(value) -> str:
    """A short fraction exactly; any other number with six digits, unless these look like a whole number that it is not."""
    digits = f"{float(value):.6g}"
    most = _SHORT_BITS if "." in digits else _MOST_BITS
    short = isinstance(value, Fraction) and value.numerator.bit_length() + value.denominator.bit_length() <= most
    return str(value) if short else digits


def describe_instance(claim: Claim, data: dict) -> str:
    """The sizes and the few numbers of a counterexample, in one line."""
    sizes = data["sizes"]
    if claim.setting == "algebra":
        text = ", ".join(f"{name} = {value}" for name, value in own_numbers(claim, data).items())
        return text if 0 < len(text) <= _LONGEST else "numbers in the certificate"
    words = [f"{sizes['clients']} client{'s' * (sizes['clients'] > 1)}", f"dimension {sizes['dim']}"]
    if claim.setting == "run":
        words.append(f"{sizes['rounds']} round{'s' * (sizes['rounds'] > 1)} of {sizes['local_steps']} local "
                     f"step{'s' * (sizes['local_steps'] > 1)}")
        if "atoms" in data["instance"]:
            atoms = data["instance"]["atoms"]
            return ", ".join([*words, f"{sizes['samples']} of {len(atoms[0])} possible samples per client"])
        words.append("with noise" if any(data["instance"]["noise"]) else "no noise")
    return ", ".join(words) + _numbers_in_words(data["instance"])


def own_numbers(claim: Claim, data: dict) -> dict[str, str]:
    """The numbers, sizes and short arrays that the formulas of a claim name, by name; none of them where one is long."""
    given = {name: data["sizes"][name] for name in claim.names & data["sizes"].keys()} | data["values"]
    found = {name: _entries(value) for name, value in sorted(given.items()) if name in claim.names and value != []}
    return {} if "" in found.values() else found


def _entries(value) -> str:
    """A number or a short array of numbers; empty for anything else."""
    if isinstance(value, list):
        parts = [_entries(part) for part in value]
        return f"({', '.join(parts)})" if all(parts) and len(parts) <= _ENTRIES else ""
    return short_number(Fraction(value)) if isinstance(value, str | int) else ""


def _numbers_in_words(instance: dict) -> str:
    """Curvatures, centers and weights of a few clients in one dimension; empty for larger instances."""
    columns = {"curvatures": "curvature", "centers": "center", "weights": "client_weight"}
    rows = {word: [short_number(Fraction(c[0] if isinstance(c, list) else c)) for c in instance[name]]
            for word, name in columns.items()}
    if "pieces" in instance:
        rows["pieces (slope, center, width)"] = [
            ", ".join(f"({', '.join(piece)})" for piece in client[0]) for client in instance["pieces"]]
    text = "; ".join(f"{word} {', '.join(values)}" for word, values in rows.items())
    if len(instance["center"][0]) > 1 or len(text) > _LONGEST or "factors" in instance:
        return ""
    start = instance.get("start_offset")
    return f"; {text}" + (f"; start {short_number(Fraction(start[0]))} from the optimum" if start else "")
