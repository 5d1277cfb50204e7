"""The JSON Schema of claim files, made from the tables by which the reader checks them: ``fedtheory schema``."""

from typing import Any

from bounds.language.claim import DATA_SETS, KINDS, RELATIONS, SAMPLING, SETTINGS
from bounds.registry.claim_files import FIELD_SHAPES, SHARED
from bounds.registry.claim_reader import FIELDS

__all__ = ["DRAFT", "schema"]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

#: fields of a table besides those of a claim: how it makes several claims
_SEVERAL = {"also", "implies", "parts", "readings", "vary"}

_TEXTS = {"type": "array", "items": {"type": "string"}}
_SHAPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"}, "text or a number": {"type": ["string", "number"]}, "a list of texts": _TEXTS,
    "a table": {"type": "object"}, "true or false": {"type": "boolean"},
}

#: field -> the values that it may have
_VALUES = {"kind": KINDS, "setting": SETTINGS, "sampling": SAMPLING, "data_sets": DATA_SETS, "relation": RELATIONS,
           "given": ("r", "run")}

_MEANINGS = {
    "also": "conditions beside those of the claim that this one extends",
    "assume": "hypotheses on the problem: conditions, or names under [assumptions]",
    "compare": "the right sides of two claims: left, right, put_left, put_right, nonnegative, strict",
    "conditions": "hypotheses on steps, sizes and numbers",
    "constants": "name = formula: the least number that is at least the formula",
    "constants_may_use": "on what the hidden constant of an order may depend",
    "data_sets": "random: E averages over the data sets too; any: every data set and each of its neighbours",
    "definitions": "name = formula, or name[t, k] = formula",
    "derivation": "how a statement without a source is derived",
    "equal_weights": "whether every client has the weight 1/clients",
    "exists": "name = (low, high]: a number that the statement says to exist",
    "extends": "the id of a claim above, of which this one has all fields that it does not give",
    "free": "which free clients are there: always everybody, or arbitrary ones",
    "free_clients": "whether there may be clients outside of the objective",
    "given": "r: the statement given everything before round r; run: run by run",
    "id": "block, or block@reading; in a file without a paper, paper/block",
    "implies": "values of other axes that this one brings along",
    "indicator": "at which model the loss decides whether a free client counts",
    "kind": "theorem, lemma, proof step, ...",
    "let": "name = text: abbreviations, or what those of the file mean here",
    "limits": "of an order: what goes to oo or to 0",
    "method": "a name of fedtheory algorithms",
    "monotone": "a right side grows with a parameter: of, in, rises, put, tied, nonnegative",
    "note": "a remark for the report",
    "number": "the number of the statement in the paper",
    "options": "arguments of the method",
    "parts": "claims by id, each a table of what it gives itself",
    "reading": "in words, how the print is read",
    "readings": "readings by id, each a table of what differs",
    "relation": "the sign of the statement in place of the one that is written",
    "sampling": "how clients are drawn in each round",
    "setting": "run: runs of a method; point: losses at any points; algebra: numbers and vectors",
    "source": "where the statement is printed",
    "statement": "what is claimed: one condition",
    "steps": "ids of the claims from which this one is derived",
    "strict": "whether the loss of a free client differs by less than the threshold, or by at most the threshold",
    "undefined": "what the print leaves without a formula, in place of a statement",
    "variables": "free numbers, vectors and arrays: name = domain, or a list of names",
    "vary": "axes, values and products of them, each of which makes a reading",
    "witness": "name = formula: a value of the number that exists",
}


def _field(name: str) -> dict[str, Any]:
    shapes = [_SHAPES[shape] for shape in FIELD_SHAPES.get(name, "text").split(" or, ")]
    if name == "statement":  # a list stands where an abbreviation does
        shapes = [_SHAPES["text"]]
    found = dict(shapes[0]) if len(shapes) == 1 else {"anyOf": shapes}
    if name in _VALUES:
        found["enum"] = list(_VALUES[name])
    if name in ("readings", "parts"):
        found["additionalProperties"] = {"$ref": "#/$defs/fields"}
    return found | {"description": _MEANINGS[name]}


def schema() -> dict[str, Any]:
    """The schema as data for ``json.dumps``: the tables and the fields of a claim file, with the values that they may have.

    Formulas are texts here: ``fedtheory lint FILE`` checks them.
    """
    fields = {"type": "object", "additionalProperties": False,
              "properties": {name: _field(name) for name in sorted(FIELDS | _SEVERAL)}}
    row = {"$ref": "#/$defs/fields"}
    table = {"type": "object"}
    lists_of_texts = table | {"additionalProperties": _TEXTS}
    shared = {
        "section": {"type": "string"},
        "paper": table | {"properties": {"year": {"type": "integer"}, "uses": _TEXTS, "sections": _TEXTS}
                          | {name: {"type": "string"} for name in ("name", "title", "authors", "venue", "identifier")},
                          "additionalProperties": False},
        "names": lists_of_texts, "quantities": lists_of_texts,
        "let": table | {"additionalProperties": {"anyOf": [{"type": "string"}, _TEXTS]}},
        "assumptions": table | {"additionalProperties": {"anyOf": [_TEXTS, {
            "type": "object", "required": ["id", "name"], "additionalProperties": False,
            "properties": {"conditions": _TEXTS} | {
                name: {"type": "string"} for name in ("id", "name", "every_function", "everywhere", "note")}}]}},
        "axes": table | {"additionalProperties": table | {"additionalProperties": row, "minProperties": 1}},
        "defaults": table | {"properties": fields["properties"] | dict.fromkeys(SETTINGS, row),
                             "additionalProperties": False},
    }
    return {
        "$schema": DRAFT, "title": "claim file of fedtheory", "type": "object", "additionalProperties": False,
        "properties": {name: shared[name] | {"description": text} for name, text in SHARED.items()}
        | {"claim": {"type": "array", "items": row, "description": "the claims, in the order of the paper"}},
        "$defs": {"fields": fields},
    }
