"""Writes theorems for Coq (8.16, with its standard library alone)."""

from verify.export import induction
from verify.export.theorem import Theorem, literal

__all__ = ["coq_file"]

_BEGIN = """\
Require Import Reals Lra.
Open Scope R_scope.

(* Sums of multiples of facts. *)
Lemma whole (n : positive) : 0 <= IZR (Zpos n).
Proof. apply IZR_le; discriminate. Qed.
Lemma times (a x : R) : 0 <= a -> 0 <= x -> 0 <= a * x.
Proof. exact (Rmult_le_pos a x). Qed.
Lemma times_zero (a x : R) : 0 = x -> 0 <= a * x.
Proof. intros <-; lra. Qed.
Lemma plus (s t : R) : 0 <= s -> 0 <= t -> 0 <= s + t.
Proof. exact (Rplus_le_le_0_compat s t). Qed.
Lemma above (x : R) (d : positive) : 0 <= x / IZR (Zpos d) -> 0 <= x.
Proof.
  intro H; replace x with (IZR (Zpos d) * (x / IZR (Zpos d))) by (field; apply not_0_IZR; discriminate).
  apply Rmult_le_pos; [apply whole | exact H].
Qed.
Lemma above_zero (x : R) (d : positive) : 0 = x / IZR (Zpos d) -> 0 = x.
Proof.
  intro H; replace x with (IZR (Zpos d) * (x / IZR (Zpos d))) by (field; apply not_0_IZR; discriminate).
  rewrite <- H; ring.
Qed.
Lemma one (x : R) : x = x / 1.
Proof. field. Qed.
Lemma sides (a b x y n : positive) (l r l1 r1 s : R) : l1 = l / IZR (Zpos a) -> r1 = r / IZR (Zpos b) ->
  (a * x)%positive = (b * y)%positive -> 0 <= s -> IZR (Zpos n) * (IZR (Zpos y) * r - IZR (Zpos x) * l) = s -> l1 <= r1.
Proof.
  intros -> -> E S H. assert (F : IZR (Zpos a) * IZR (Zpos x) = IZR (Zpos b) * IZR (Zpos y)).
  { rewrite <- !mult_IZR; f_equal; change (Zpos (a * x) = Zpos (b * y)); rewrite E; reflexivity. }
  assert (P : forall n, 0 < IZR (Zpos n)) by (intro; apply IZR_lt; reflexivity).
  pose proof (P a); pose proof (P b); pose proof (P x); pose proof (P y).
  assert (0 <= IZR (Zpos y) * r - IZR (Zpos x) * l)
    by (apply Rmult_le_reg_l with (IZR (Zpos n)); [apply P | rewrite H, Rmult_0_r; exact S]).
  apply Rmult_le_reg_l with (IZR (Zpos b) * IZR (Zpos y)); [apply Rmult_lt_0_compat; auto |].
  rewrite <- F at 1. replace (IZR (Zpos a) * IZR (Zpos x) * (l / IZR (Zpos a))) with (IZR (Zpos x) * l) by (field; lra).
  replace (IZR (Zpos b) * IZR (Zpos y) * (r / IZR (Zpos b))) with (IZR (Zpos y) * r) by (field; lra). lra.
Qed.
Lemma weight (c m : positive) (q p : nat) (u : R) : 0 <= u -> u <= 1 / IZR (Zpos m) ->
  0 <= IZR (Zpos c) * (u ^ q * (1 - IZR (Zpos m) * u) ^ p).
Proof.
  intros U V; apply Rmult_le_pos; [apply whole |]. apply Rmult_le_pos; apply pow_le; [exact U |].
  assert (P : 0 < IZR (Zpos m)) by (apply IZR_lt; reflexivity).
  assert (IZR (Zpos m) * u <= IZR (Zpos m) * (1 / IZR (Zpos m))) by (apply Rmult_le_compat_l; [lra | exact V]).
  replace (IZR (Zpos m) * (1 / IZR (Zpos m))) with 1 in * by (field; lra). lra.
Qed.
"""


def coq_file(theorems, comment):
    """The file that states and proves these theorems."""
    parts = [_comment(comment), _BEGIN, *[induction.BEGIN] * any(not isinstance(each, Theorem) for each in theorems)]
    parts += [_theorem(each) if isinstance(each, Theorem) else induction.induction_text(each, _comment) for each in theorems]
    each = " ".join(f"let _ := {each.name} in" for each in theorems)
    return "\n".join([*parts, f"Definition all_theorems := {each} I.", "Print Assumptions all_theorems.", ""])


def _comment(lines):
    """Lines as one comment, which cannot be ended from inside."""
    plain = [" ".join(line.split()).replace('"', "'").replace("(*", "( *").replace("*)", "* )") for line in lines]
    return "(* " + "\n   ".join(plain) + " *)"


def _theorem(each):
    lines = [_comment(each.comment), f"Section {each.name}.", f"Variables {' '.join([*each.variables, 'u'])} : R."]
    if each.least:
        lines += ["Hypothesis u_low : 0 <= u.", f"Hypothesis u_high : u <= 1 / {each.least}."]
    for fact in each.facts:
        lines += [_comment([fact.comment]),
                  f"Hypothesis {fact.name} : 0 {'=' if fact.is_zero else '<='} {_quotient(fact.above, fact.below)}."]
    (l, a), (r, b) = each.smaller, each.larger
    lines += [f"Theorem {each.name} :", f"  {_quotient(l, a)}", "  <=", f"  {_quotient(r, b)}.", "Proof."]
    numbers = f"{a} {b} {each.by_smaller} {each.by_larger} {literal(each.by)}"
    lines.append(f"  refine (sides {numbers} _ _ _ _ _ {_ratio(a)} {_ratio(b)} eq_refl")
    lines += [_sum([f"({_times(term, each.least)})" for term in each.terms], "    "), "    _). lra.", "Qed.",
              f"End {each.name}.", ""]
    return "\n".join(lines)


def _sum(parts, indent):
    """The proof that a sum is not negative, as a balanced tree: the sum would be written once for each part of a list."""
    if len(parts) < 2:
        return indent + (parts or ["(Rle_refl 0)"])[0]
    half = len(parts) // 2
    return f"{indent}(plus _ _\n{_sum(parts[:half], indent + ' ')}\n{_sum(parts[half:], indent + ' ')})"


def _quotient(above, below):
    return f"({above}) / {below}" if below > 1 else above


def _ratio(below):
    """The proof that a side is its numerator over its denominator."""
    return "eq_refl" if below > 1 else "(one _)"


def _times(term, least):
    """The proof that a multiple of a fact is not negative."""
    number, fact = literal(abs(term.number)), term.fact
    if fact is not None and fact.is_zero:
        factor = f"({'-' * (term.number < 0)} {number})" if term.number < 0 else number
        factor = f"({factor} * (u ^ {term.q} * (1 - {least} * u) ^ {term.p}))" if least else factor
        return f"times_zero {factor} _ {_numerator(fact, 'above_zero')}"
    shown = f"(weight {number} {least} {term.q} {term.p} u u_low u_high)" if least else f"(whole {number})"
    return f"times _ _ {shown} {_numerator(fact, 'above') if fact else 'Rle_0_1'}"


def _numerator(fact, above):
    """The proof that a fact's numerator is as the fact is."""
    return f"({above} _ {fact.below} {fact.name})" if fact.below > 1 else fact.name
