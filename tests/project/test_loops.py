"""Tests look at something: a list of things to check that turns out empty fails."""

import ast

import pytest

from tests import ROOT
from tests.bounds.each_claim import each_claim, look_at_each
from tests.not_empty import not_empty

#: functions that keep the number of what they are given, so that what they give is empty only if that is
KEEPING = ("enumerate", "zip", "sorted", "list", "tuple", "set", "reversed", "iter", "pairwise", "product", "dict", "items",
           "values", "keys")


def test_nothing_to_look_at_fails():
    with pytest.raises(AssertionError, match="nothing"):
        list(not_empty([]))
    with pytest.raises(AssertionError, match="nothing"):
        look_at_each([], lambda thing: None)
    with pytest.raises(AssertionError, match="nothing"):
        all(thing for thing in not_empty(filter(None, [0])))
    assert list(not_empty("ab")) == ["a", "b"]


def test_a_test_of_claims_looks_at_a_claim_of_every_paper():
    with pytest.raises(AssertionError, match="nothing"):
        each_claim(lambda: ())(lambda claim: None)("li2020")


class Names:
    """Names of a module that hold something by their own text: constants with members, and what is made of them."""

    def __init__(self, tree: ast.Module):
        self.full: set[str] = set()
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and self.is_full(statement.value):
                self.full |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
            if isinstance(statement, ast.AnnAssign) and statement.value and self.is_full(statement.value):
                self.full.add(statement.target.id)

    def is_full(self, e: ast.expr) -> bool:
        """Whether a collection has a member, as far as its text says."""
        if isinstance(e, ast.Tuple | ast.List | ast.Set):
            return any(not isinstance(item, ast.Starred) or self.is_full(item.value) for item in e.elts)
        if isinstance(e, ast.Dict):
            return any(key is not None or self.is_full(value) for key, value in zip(e.keys, e.values, strict=True))
        if isinstance(e, ast.Constant):
            return isinstance(e.value, str) and bool(e.value)
        if isinstance(e, ast.Name):
            return e.id in self.full
        if isinstance(e, ast.BinOp):
            return self.is_full(e.left) or self.is_full(e.right)
        if isinstance(e, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
            return all(self.is_full(loop.iter) and not loop.ifs for loop in e.generators)
        if isinstance(e, ast.Subscript):
            return not isinstance(e.slice, ast.Slice) and self.is_full(e.value)
        return isinstance(e, ast.Call) and self._is_full_call(e)

    def _is_full_call(self, e: ast.Call) -> bool:
        name = e.func.attr if isinstance(e.func, ast.Attribute) else getattr(e.func, "id", "")
        if name in ("not_empty", "if_any", "range", "split"):  # ranges of no length are a mistake of their own
            return True
        if isinstance(e.func, ast.Attribute) and not e.args:
            return name in KEEPING and self.is_full(e.func.value)
        given = [argument.value if isinstance(argument, ast.Starred) else argument for argument in e.args]
        enough = any if name == "zip" and _is_strict(e) else all
        return name in KEEPING and bool(given) and enough(map(self.is_full, given))


def _is_strict(call):
    return any(word.arg == "strict" and getattr(word.value, "value", False) for word in call.keywords)


def _is_check(node) -> bool:
    """Whether a statement or a call may fail a test."""
    if isinstance(node, ast.With):
        return any("raises" in ast.unparse(item.context_expr) for item in node.items)
    return isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and any(
        word in ast.unparse(node.func) for word in ("assert", "raise_if", "look_at_each")))


def _checks_of_nothing(names: Names, check, loops) -> bool:
    """Whether a check is not reached, or says nothing, where a collection is empty."""
    if any(not names.is_full(loop.iter) for loop in loops):
        return True
    if not isinstance(check, ast.Assert):
        return False
    test = check.test
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    call = test.operand if negated else test
    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == ("any" if negated else "all") and call.args:
        return not names.is_full(call.args[0]) and isinstance(call.args[0], ast.GeneratorExp | ast.ListComp)
    nothing = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Eq) and isinstance(
        test.comparators[0], ast.List | ast.Tuple) and not test.comparators[0].elts
    return nothing and isinstance(test.left, ast.ListComp | ast.SetComp) and not all(
        names.is_full(loop.iter) for loop in test.left.generators[:1])


def unguarded(text: str) -> list[str]:
    """The tests of a file of which every check stands in a loop over what may be empty."""
    tree, found = ast.parse(text), []
    names = Names(tree)
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.name.startswith("test"):
            checks = [*_checks(function, ())]
            if checks and all(_checks_of_nothing(names, check, loops) for check, loops in checks):
                found.append(function.name)
    return found


def _checks(node, loops):
    for child in ast.iter_child_nodes(node):
        if _is_check(child):
            yield child, loops
        yield from _checks(child, (*loops, child) if isinstance(child, ast.For) else loops)


@pytest.mark.parametrize(("text", "fails"), [
    ("def test(): \n for x in f(): assert x", True), ("def test(): \n for x in not_empty(f()): assert x", False),
    ("def test(): \n for x in (1, 2): assert x", False), ("A = [1]\ndef test(): \n for x in A: assert x", False),
    ("def test(): assert all(x for x in f())", True), ("def test(): assert all(x for x in not_empty(f()))", False),
    ("def test(): assert [x for x in f() if x] == []", True), ("def test(): assert not any(x for x in f())", True),
    ("def test(): assert f() and all(x for x in f())", False), ("def test(): assert f()", False),
    ("A = [x for x in f()]\ndef test(): \n for x in A: assert x", True),
])
def test_such_tests_are_found(text, fails):
    assert bool(unguarded(text)) is fails


def test_every_test_looks_at_something():
    """Where every check of a test stands in a loop, ``not_empty`` ensures that something is looked at; ``if_any`` says that
    there may be nothing."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    assert files
    assert [f"{file.relative_to(ROOT)}: {name}" for file in files
            for name in unguarded(file.read_text(encoding="utf-8"))] == []
