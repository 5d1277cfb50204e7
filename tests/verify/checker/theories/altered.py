"""Alterations of facts: each constant, sign, index and side condition of a function in turn, in its source."""

import ast
import copy
import inspect
from types import SimpleNamespace

__all__ = ["alterations", "loaded"]

#: what becomes of operators
_SWAPPED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt,
            ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
            ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And, ast.BitOr: ast.BitAnd,
            ast.BitAnd: ast.BitOr, ast.Pow: ast.Mult}
_OTHER_CALLS = {"max": "min", "min": "max", "any": "all", "all": "any", "range": "list"}


def alterations(function):
    """Pairs (what was altered, the tree of the altered function) of a function."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    work = {id(node) for call in ast.walk(tree) if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "charge"
            for node in ast.walk(call)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in work:  # the limits of work are no part of a fact
            continue
        for what, change in changes(node, *names_of(tree)):
            other = copy.deepcopy(tree)
            at = [*ast.walk(other)][number]
            if change(at, other) is not False and ast.dump(other) != ast.dump(tree):
                yield f"{function.__name__}: {what} in {ast.unparse(node)[:60]!r}{place(node, tree)}", other


def place(node, tree):
    """Where a name or a number stands: the smallest call, sum, comparison or the like around it."""
    if not isinstance(node, (ast.Name, ast.Constant)):
        return ""
    around = [one for one in ast.walk(tree) if one is not node and isinstance(one, (ast.expr, ast.stmt, ast.comprehension))
              and any(part is node for part in ast.walk(one))]
    return f" of {ast.unparse(around[-1])[:60]!r}" if around else ""


def names_of(tree):
    """The arguments of a function, and the names that it gives."""
    given = [one.arg for one in tree.args.args if one.arg not in ("run", "past", "statement", "known")]
    own = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return given, [name for name in dict.fromkeys(own) if name not in ("_", "letters", "clients", "found")]


def changes(node, *names):
    """Pairs (what, function that changes a copy of the node in a copy of the tree)."""
    def put(**parts):
        return lambda at, tree: [setattr(at, name, part) for name, part in parts.items()]

    if isinstance(node, ast.Constant) and type(node.value) in (int, bool):
        value = node.value
        for other in (not value,) if type(value) is bool else (value + 1, value - 1, -value):
            yield f"{value} becomes {other}", put(value=other)
    elif isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in _SWAPPED:
        yield f"{type(node.op).__name__} becomes {_SWAPPED[type(node.op)].__name__}", put(op=_SWAPPED[type(node.op)]())
        if isinstance(node, ast.BoolOp):
            for place in range(len(node.values)):
                yield f"part {place} of a condition dropped", lambda at, tree, place=place: replaced(
                    tree, at, at.values[1 - place]) if len(at.values) == 2 else at.values.pop(place)
        elif isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            yield "a part dropped", lambda at, tree: replaced(tree, at, at.left)
    elif isinstance(node, ast.Compare):
        for place, op in enumerate(node.ops):
            if type(op) in _SWAPPED:
                ops = [_SWAPPED[type(one)]() if i == place else one for i, one in enumerate(node.ops)]
                yield f"{type(op).__name__} becomes {type(ops[place]).__name__}", put(ops=ops)
    elif isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__} dropped", lambda at, tree: replaced(tree, at, at.operand)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "require":
        yield "a side condition dropped", put(value=ast.Constant(None))
    elif isinstance(node, ast.If):
        for value in (True, False):
            yield f"if {value}", put(test=ast.Constant(value))
    elif isinstance(node, ast.IfExp):
        for value in (True, False):
            yield f"{value} in place of a condition", put(test=ast.Constant(value))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "a condition on entries dropped", put(ifs=[])
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        given, own = names
        others = given if node.id in given else [own[own.index(node.id) - 1]] if node.id in own else []
        for other in others:
            if other != node.id:
                yield f"{node.id} becomes {other}", put(id=other)
        if node.id in _OTHER_CALLS:
            yield f"{node.id} becomes {_OTHER_CALLS[node.id]}", put(id=_OTHER_CALLS[node.id])
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("abs", "root_above", "upper", "sorted", "float"):
        yield f"{node.func.id} dropped", lambda at, tree: replaced(tree, at, at.args[0])


def replaced(tree, at, other):
    """Put another node in the place of one."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is at:
                setattr(parent, name, other)
                return True
            if isinstance(value, list) and any(one is at for one in value):
                setattr(parent, name, [other if one is at else one for one in value])
                return True
    return False


def loaded(module, tree):
    """The module with an altered function in it."""
    whole = ast.parse(inspect.getsource(module))
    whole.body = [tree if getattr(one, "name", None) == tree.name else one for one in whole.body]
    space = {"__name__": module.__name__}
    exec(compile(ast.fix_missing_locations(whole), module.__name__, "exec"), space)
    return SimpleNamespace(**space)
