"""An instance as tables: sizes, what each client is, and the numbers given besides."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from markupsafe import Markup

from bounds.language.claim import BY_NUMBER
from verify.results.numerals import approximately, is_fraction, significant

__all__ = ["details_shown", "instance_tables", "value_text"]

LONGEST_NUMBER, MOST_ENTRIES = 28, 24

#: lists of an instance whose entries are not clients
OTHERWISE = ("epsilon", "available", "start_offset", "local_offset", "x_star", "layer_sizes")
#: what these are, where a paper's letters do not say it
WORDS = {"epsilon": "matching threshold, by round", "available": "which clients are available, by round",
         "start_offset": "start of the run, from the optimum", "local_offset": "start of the local models",
         "layer_sizes": "coordinates of each layer", "initial": "state of the method at the start",
         "half_tangent": "tangent of half the angle",
         "x_star": "minimiser of the objective", "dim": "dimension", "layers": "number of layers"}
#: what an instance and its algorithm have besides where some clients are free
OF_FREE_CLIENTS = frozenset({"priority", "epsilon", "available", "indicator", "strict"})
#: heads of the table of sampled runs, in place of the names of its columns
OF_SAMPLED_RUNS = {"decides": "counts as evidence", "e_value": "e-value against the claim (10^6 would count)",
                   "tested": "with an e-value"}
#: names of the algorithm's options
OPTIONS = {"base": "method", "indicator": "model that the matching compares", "strict": "matching is strict",
           "free": "free clients"}
#: heads of the clients' table
COLUMNS = {"client_weight": "weight", "priority": "priority client", "x_local": "local model"}
QUADRATIC = ", with losses ½ Σ curvature · (coordinate − center)² + offset"
PIECES = (", plus slope · h(coordinate − c) for each coordinate and each of its pieces (slope, c, w), where h(u) is ½ u² up "
          "to |u| = w, and w |u| − ½ w² beyond")
TURNED = (", in coordinates of the models rotated back, in the plane of the first and the last, by an angle; "
          "the tangent of its half is below; the same holds for the noise")
TURNED_EACH = TURNED.replace("by an angle", "by an angle of the client's own").replace("below", "in the column half tangent")
FACTORED = ", in coordinates W_j = a y_j b z_j of the models (a, y, b, z)"
FIRST = ("priority", "client_weight")  # columns of the clients' table
EMPTY = (None, "", [], {})
#: details in other parts of the page
SHOWN_ELSEWHERE = ("broken", "conflict", "instance", "kept", "missing", "needs", "proof", "repairs", "scope", "steps")


def details_shown(details: Mapping[str, Any]) -> tuple[list[tuple[str, str]], list[dict[str, Any]]]:
    """The details of a verdict: facts (name, text), and a table for each list of records."""
    facts, tables = [], []
    for name, value in details.items():
        caption = name.replace("_", " ")
        if name in SHOWN_ELSEWHERE or value in EMPTY:
            continue
        if isinstance(value, list) and all(isinstance(row, Mapping) for row in value):
            head = list(dict.fromkeys(key for row in value for key in row if "e_value" not in row or key != "reason"))
            rows = [[value_text(row.get(key)) for key in head] for row in value]
            heads = [OF_SAMPLED_RUNS.get(key, key.replace("_", " ")) for key in head]
            tables.append({"caption": caption, "head": heads, "rows": rows})
        elif name == "instances" and isinstance(value, Mapping) and {"tried", "met"} <= {*value}:
            facts.append((caption, f"{value['tried']:,} tried; {value['met']:,} of them meet the hypotheses"))
        elif isinstance(value, Mapping):
            facts.append((caption, ", ".join(f"{value_text(v)} {k.replace('_', ' ')}" for k, v in value.items())))
        else:
            facts.append((caption, value_text(value)))
    return facts, tables


def instance_tables(data: Mapping[str, Any], name_of: Callable[[str], tuple[str, str] | None] = {}.get,
                    of_numbers: Collection[str] | None = None) -> list[dict]:
    """Tables (``caption``, ``head``, ``rows`` of text) for an instance of a certificate.

    ``data`` has ``sizes`` and ``procedure`` (name -> value), ``instance`` (name -> a list with one entry per client, except
    for the names in ``OTHERWISE``) and ``values`` (name -> numbers). Any of these may be missing. ``name_of`` gives a
    quantity's letter and meaning, None where it has none. ``of_numbers``: the names in a claim about numbers alone, for
    which no algorithm is run; its other sizes say nothing.
    """
    sizes, procedure = dict(data.get("sizes", {})), dict(data.get("procedure", {}))
    if of_numbers is not None:
        sizes, procedure = {name: size for name, size in sizes.items() if name in of_numbers}, {}
    if sizes.get("layers") == 1:  # one layer has all coordinates
        del sizes["layers"]
    instance = {name: v for name, v in data.get("instance", {}).items() if name != "layer_sizes" or len(v) > 1}
    if all(instance.get("priority", ())):  # no client is free
        instance, procedure = ({name: v for name, v in part.items() if name not in OF_FREE_CLIENTS}
                               for part in (instance, procedure))
    if procedure.get("sampling") not in (None, *BY_NUMBER):
        sizes.pop("participants", None)  # no client is sampled
    count = sizes.get("clients")
    by_client = {name: v for name, v in instance.items()
                 if isinstance(v, list) and name not in OTHERWISE and count in (None, len(v))}
    values = sizes | dict(data.get("values", {})) | {name: v for name, v in instance.items() if name not in by_client}

    def named(name: str) -> tuple[str, str]:
        letter, meaning = name_of(name) or ("", "")
        return letter, WORDS.get(name) or meaning or ("" if letter else name.replace("_", " "))

    tables = []
    if by_client:
        names = [*(n for n in FIRST if n in by_client), *(n for n in by_client if n not in FIRST)]
        length = max(len(by_client[n]) for n in names)
        rows = [[str(k + 1), *(value_text(by_client[n][k]) if k < len(by_client[n]) else "–" for n in names)]
                for k in range(length)]
        caption = "the clients" + (QUADRATIC if {"curvature", "center"} <= set(names) else "") + PIECES * ("pieces" in names)
        caption += TURNED_EACH if "half_tangent" in by_client else TURNED * ("half_tangent" in instance)
        caption += FACTORED * ("factors" in instance)
        head = [Markup(" ").join(filter(None, (COLUMNS.get(n, n.replace("_", " ")), named(n)[0]))) for n in names]
        tables.append({"caption": caption, "head": ["client", *head], "rows": rows})
    if values:
        rows = [[*named(name), value_text(value)] for name, value in values.items() if value not in EMPTY]
        tables.append({"caption": "sizes and numbers", "head": ["letter", "meaning", "value"], "rows": rows})
    for table in tables:
        if any("≈" in cell for row in table["rows"] for cell in row):
            table["caption"] += "; ≈ stands for a long fraction, which the certificate has"
    if procedure:
        options = procedure.pop("options", {})
        options = {"method inside" if name == "base" else name: value for name, value in options.items()}
        rows = [[OPTIONS.get(name, name.replace("_", " ")), value_text(value)]
                for name, value in (procedure | options).items()
                if value not in EMPTY and not (isinstance(value, Mapping) and "symbol" in value)]  # that is a number above
        tables.append({"caption": "the algorithm and its options", "head": ["option", "value"], "rows": rows})
    return tables


def value_text(value) -> str:
    """A value of a certificate or of evidence as text."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, Mapping):
        return ", ".join(f"{k} = {value_text(v)}" for k, v in value.items()) or "–"
    if isinstance(value, (list, tuple)):
        if not value:
            return "–"
        if _is_law(value):
            return "; ".join(f"{value_text(outcome)} with probability {value_text(p)}" for p, outcome in value)
        entries = [value_text(v) for v in value[:MOST_ENTRIES]]
        more = [f"… {len(value)} in all"] if len(value) > MOST_ENTRIES else []
        return f"({', '.join(entries + more)})" if len(value) != 1 else entries[0]
    if isinstance(value, float):
        return significant(value)
    return f"{value:,}" if isinstance(value, int) else _number(str(value))


def _is_law(value) -> bool:
    """Whether a value is a list of (probability, outcome), the form of noise in certificates."""
    return bool(value) and all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[1], (list, tuple))
        and not isinstance(pair[0], (list, tuple)) for pair in value
    )


def _number(text: str) -> str:
    """A rational as it is; a long one as a decimal."""
    if len(text) <= LONGEST_NUMBER:
        return text.replace("-", "−") if is_fraction(text) else text
    return f"≈ {approximately(text)}" if is_fraction(text) else text
