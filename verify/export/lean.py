"""Writes theorems for Lean 4 with Mathlib, in the form in which they are written for Coq. Nothing here runs Lean."""

from verify.export.theorem import Theorem, literal

__all__ = ["lean_file"]


def lean_file(theorems, comment):
    """The file that states and proves these theorems."""
    theorems = [each for each in theorems if isinstance(each, Theorem)]  # inductions are written for Coq alone
    parts = ["import Mathlib", "", *_comment(comment), "", *(_theorem(each) for each in theorems)]
    return "\n".join([*parts, *(f"#print axioms {each.name}" for each in theorems), ""])


def _comment(lines, indent=""):
    return [f"{indent}-- {' '.join(line.split())}" for line in lines]


def _theorem(each):
    lines = [*_comment(each.comment), f"theorem {each.name} ({' '.join([*each.variables, 'u'])} : ℝ)"]
    if each.least:
        lines += ["    (u_low : 0 ≤ u)", f"    (u_high : 0 ≤ 1 - {each.least} * u)"]
    for fact in each.facts:
        lines += [*_comment([fact.comment], "    "),
                  f"    ({fact.name} : 0 {'=' if fact.is_zero else '≤'} {_quotient(fact.above, fact.below)})"]
    lines += ["    :", f"    ({_quotient(*each.smaller)} : ℝ)", "    ≤", f"    {_quotient(*each.larger)} := by"]
    proofs = []
    for number, term in enumerate(each.terms):
        weight, fact = f"(by norm_num : (0 : ℝ) ≤ {literal(abs(term.number))})", term.fact
        if each.least:
            weight = f"(mul_nonneg {weight} (mul_nonneg (pow_nonneg u_low {term.q}) (pow_nonneg u_high {term.p})))"
        by = fact.name if fact else "(zero_le_one : (0 : ℝ) ≤ 1)"
        if fact is not None and fact.is_zero:
            by = f"{by}.le" if term.number > 0 else f"(neg_nonneg.mpr {by}.ge)"
        proofs.append(f"  have t{number} := mul_nonneg {weight} {by}")
    return "\n".join([*lines, *proofs, "  linarith", ""])


def _quotient(above, below):
    return f"({above}) / {below}" if below > 1 else above
