"""Writes for Coq that a potential proves a statement about every number of rounds, from the theorems about one round."""

from dataclasses import dataclass
from fractions import Fraction

from verify.export.theorem import Theorem

__all__ = ["BEGIN", "Induction", "written"]

BEGIN = """\
(* Induction over rounds: the sum of a over n rounds, and the sum of q^r over them. *)
Fixpoint added (a : nat -> R) (n : nat) : R := match n with O => 0 | S k => added a k + a k end.
Fixpoint paid (q : R) (n : nat) : R := match n with O => 0 | S k => q * paid q k + 1 end.
Lemma by_induction (q c : R) (v a : nat -> R) : 0 <= q -> (q = 1 \\/ forall r, a r = 0) ->
  (forall r, v (S r) + a r <= q * v r + c) -> forall n, added a n + v n <= q ^ n * v 0%nat + c * paid q n.
Proof.
  intros Q K H; induction n as [| n N]; [simpl; lra |]. pose proof (H n); destruct K as [-> | K]; simpl in *.
  - rewrite pow1 in *; lra.
  - assert (forall m, added a m = 0) as Z by (induction m as [| m M]; simpl; [| rewrite M, K]; lra).
    rewrite K in *; rewrite Z in *; pose proof (Rmult_le_compat_l q _ _ Q N); lra.
Qed.
"""


@dataclass(frozen=True)
class Induction:
    """The statement for every number of rounds, from the theorems about ``one_round`` and ``the_end``, with a factor."""

    name: str
    comment: list
    factor: Fraction
    one_round: Theorem
    the_end: Theorem


def written(each, comment):
    """The text of the theorem; ``comment`` makes comments of lines."""
    q = f"({each.factor.numerator} / {each.factor.denominator})" if each.factor != 1 else "1"
    others = "or_introl eq_refl" if each.factor == 1 else "or_intror none_added"
    parts = [
        comment(each.comment), f"Theorem {each.name} (v a last right : nat -> R) (c : R)",
        *(["  (none_added : forall r, a r = 0)"] if each.factor != 1 else []),
        f"  (one_round : forall r, {_so(each.one_round, 'v (S r) + a r', f'{q} * v r + c')})",
        f"  (the_end : forall r, {_so(each.the_end, 'last r', 'v r')})",
        f"  (the_start : forall n, (1 <= n)%nat -> {q} ^ n * v 0%nat + c * paid {q} n <= right n) :",
        "  forall n, (1 <= n)%nat -> added a n + last n <= right n.", "Proof.",
        f"  assert (forall r, v (S r) + a r <= {q} * v r + c) as step by ({_used(each.one_round, 'one_round')}).",
        f"  assert (forall r, last r <= v r) as ending by ({_used(each.the_end, 'the_end')}).",
        f"  intros n N. pose proof (by_induction {q} c v a ltac:(lra) ({others}) step n).",
        "  pose proof (ending n); pose proof (the_start n N); lra.", "Qed.", ""]
    return "\n".join(parts)


def _so(theorem, left, right):
    """That the sides of a theorem, at numbers for which its facts hold, are two numbers."""
    facts = [f"0 {'=' if fact.is_zero else '<='} ({fact.above}) / {fact.below}" if fact.below > 1 else
             f"0 {'=' if fact.is_zero else '<='} {fact.above}" for fact in theorem.facts]
    sides = [f"{name} = ({above}) / {below}" if below > 1 else f"{name} = {above}"
             for name, (above, below) in ((left, theorem.smaller), (right, theorem.larger))]
    bound = f"exists {' '.join(theorem.variables)} : R, " if theorem.variables else ""
    return bound + " /\\ ".join([*facts, *sides])


def _used(theorem, premise):
    """The steps that prove an inequality of every round by a theorem."""
    names = [*theorem.variables, *(fact.name for fact in theorem.facts), "smaller", "larger"]
    return (f"intro r; destruct ({premise} r) as ({' & '.join(names)}); rewrite smaller, larger; "
            f"eapply {theorem.name}; eassumption")
