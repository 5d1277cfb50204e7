"""Writes for Coq that a potential proves a statement about every number of rounds, from the theorems about single ones."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

__all__ = ["BEGIN", "Induction", "induction_text"]

BEGIN = """\
(* Induction over rounds: the sum of a over n rounds, and the sum of q^r over them. *)
Require Import List. Import ListNotations.
Fixpoint added (a : nat -> R) (n : nat) : R := match n with O => 0 | S k => added a k + a k end.
Fixpoint paid (q : R) (n : nat) : R := match n with O => 0 | S k => q * paid q k + 1 end.
Lemma paid_one (n : nat) : paid 1 n = INR n.
Proof. induction n as [| n N]; [reflexivity |]. rewrite S_INR; simpl paid; lra. Qed.
Lemma paid_is (q s : R) (n : nat) : (1 - q) * s = 1 -> paid q n = (1 - q ^ n) * s.
Proof.
  intro E; induction n as [| n N]; simpl; [ring |]. rewrite N.
  replace (q * ((1 - q ^ n) * s) + 1) with (q * s - q * q ^ n * s + (1 - q) * s) by (rewrite E; ring). ring.
Qed.
Lemma by_induction (q c : R) (v a : nat -> R) : 0 <= q -> (q = 1 \\/ forall r, a r = 0) ->
  (forall r, v (S r) + a r <= q * v r + c) -> forall n, added a n + v n <= q ^ n * v 0%nat + c * paid q n.
Proof.
  intros Q K H; induction n as [| n N]; [simpl; lra |]. pose proof (H n); destruct K as [-> | K]; simpl in *.
  - rewrite pow1 in *; lra.
  - assert (forall m, added a m = 0) as Z by (induction m as [| m M]; simpl; [| rewrite M, K]; lra).
    rewrite K in *; rewrite Z in *; pose proof (Rmult_le_compat_l q _ _ Q N); lra.
Qed.
(* The sum of c p^n, and what is never negative with it: at n = 1, ..., the p^n descend from 1 to 0 as the p do. *)
Fixpoint powers (l : list (R * R)) (n : nat) : R := match l with nil => 0 | (p, c) :: m => c * p ^ n + powers m n end.
Fixpoint corners (s w : R) (l : list (R * R)) : Prop :=
  match l with nil => True | (p, c) :: m => 0 <= p <= w /\\ 0 <= s + c /\\ corners (s + c) p m end.
Lemma from_corners (n : nat) (l : list (R * R)) : forall s w, 0 <= s -> 0 <= w ->
  corners s w l -> 0 <= s * w ^ n + powers l n.
Proof.
  induction l as [| [p c] m M]; intros s w S W H; simpl in *.
  - rewrite Rplus_0_r; apply Rmult_le_pos; [exact S | apply pow_le; exact W].
  - destruct H as ((P & Q) & C & H); specialize (M _ _ C P H).
    assert (D : p ^ n <= w ^ n) by (apply pow_incr; lra). pose proof (Rmult_le_compat_l s _ _ S D); lra.
Qed.
Lemma for_every_n (b a : R) (l : list (R * R)) (n : nat) : (1 <= n)%nat -> 0 <= b -> 0 <= a + b -> corners (a + b) 1 l ->
  0 <= b * INR n + a + powers l n.
Proof.
  intros N B A H; pose proof (from_corners n l (a + b) 1 A ltac:(lra) H) as F; rewrite pow1 in F.
  pose proof (le_INR _ _ N) as I; simpl in I; pose proof (Rmult_le_compat_l b _ _ B I); lra.
Qed.
"""


@dataclass(frozen=True)
class Induction:
    """The statement for every number of rounds, from theorems about ``one_round``, ``the_end`` and the ``starts``.

    Attributes:
        factor: what the potential shrinks by.
        first, cost: the first potential, and what each round adds, as texts.
        right: the right side for n rounds: the text of what is multiplied by p^n n^j, by (p, j).
        powers: the p of what the starts prove not to be negative, in descending order.
        variables: those of first, cost and right.
    """

    name: str
    comment: list
    factor: Fraction
    one_round: object
    the_end: object
    starts: list
    first: str
    cost: str
    right: dict
    powers: list
    variables: list


def induction_text(each, comment):
    """The text of the theorem; ``comment`` makes comments of lines."""
    q, whole = _number(each.factor), each.factor == 1
    sums = [f"({text})" + (" * INR n" if j else "") + (f" * {_number(p)} ^ n" if p != 1 else "")
            for (p, j), text in each.right.items()]
    facts = [(f"in_{i}_{fact.name}", _fact(fact)) for i, one in enumerate(each.starts) for fact in one.facts]
    variables = [*dict.fromkeys(name for one in (each, *each.starts) for name in one.variables)]
    last = [f"v 0%nat = {each.first}", f"c = {each.cost}",
            f"forall n, (1 <= n)%nat -> right n = {' + '.join(sums) or '0'}"]
    start = _exists(variables, [*(text for _, text in facts), *last])
    names = [*variables, *(name for name, _ in facts), "first", "cost", "rest"]
    ends = [_quotient(*one.larger) for one in each.starts]
    gaps = [f"{after} - {before}" for before, after in pairwise(ends)]
    listed = "; ".join(f"({_number(p)}, {gap})" for p, gap in zip(each.powers, gaps[1:], strict=True))
    bases = dict.fromkeys([each.factor, *each.powers, *(p for p, _ in each.right)])
    plain = ["rewrite ?pow1", "generalize (INR n)", *(f"generalize ({_number(p)} ^ n)" for p in bases if p != 1)]
    return "\n".join([
        comment(each.comment), f"Theorem {each.name} (v a last right : nat -> R) (c : R)",
        *["  (none_added : forall r, a r = 0)"] * (not whole),
        f"  (one_round : forall r, {_so(each.one_round, 'v (S r) + a r', f'{q} * v r + c')})",
        f"  (the_end : forall r, {_so(each.the_end, 'last r', 'v r')})", f"  (the_start : {start}) :",
        "  forall n, (1 <= n)%nat -> added a n + last n <= right n.", "Proof.",
        f"  assert (forall r, v (S r) + a r <= {q} * v r + c) as step by ({_used(each.one_round, 'one_round')}).",
        f"  assert (forall r, last r <= v r) as ending by ({_used(each.the_end, 'the_end')}).",
        f"  assert (forall n, (1 <= n)%nat -> {q} ^ n * v 0%nat + c * paid {q} n <= right n) as start.",
        f"  {{ destruct the_start as ({' & '.join(names)}); intros n N; rewrite (rest n N), first, cost.",
        *(f"    assert (0 <= {end}) as corner_{i} by (eapply {one.name}; eassumption)."
          for i, (one, end) in enumerate(zip(each.starts, ends, strict=True))),
        f"    pose proof (for_every_n ({ends[0]}) ({gaps[0]}) [{listed}] n N corner_0 ltac:(lra)",
        "      ltac:(simpl; repeat split; lra)) as total. cbn [powers] in total.",
        f"    rewrite {'paid_one' if whole else f'(paid_is {q} {_number(1 / (1 - each.factor))}) by lra'}; revert total.",
        f"    {'; '.join(plain)}; intros; lra. }}",
        f"  intros n N; pose proof (by_induction {q} c v a ltac:(lra) "
        f"({'or_introl eq_refl' if whole else 'or_intror none_added'}) step n).",
        "  pose proof (ending n); pose proof (start n N); lra.", "Qed.", ""])


def _number(p):
    return f"{p.numerator}" if p.denominator == 1 else f"({p.numerator} / {p.denominator})"


def _quotient(above, below):
    return f"({above}) / {below}" if below > 1 else f"{above}"


def _fact(fact):
    return f"0 {'=' if fact.is_zero else '<='} {_quotient(fact.above, fact.below)}"


def _exists(variables, parts):
    return (f"exists {' '.join(variables)} : R, " if variables else "") + " /\\ ".join(parts)


def _so(one, left, right):
    """The proposition that the sides of a theorem, at numbers for which its facts hold, are two numbers."""
    sides = [f"{left} = {_quotient(*one.smaller)}", f"{right} = {_quotient(*one.larger)}"]
    return _exists(one.variables, [*map(_fact, one.facts), *sides])


def _used(one, premise):
    """The steps that prove an inequality of every round by a theorem."""
    names = [*one.variables, *(fact.name for fact in one.facts), "smaller", "larger"]
    return (f"intro r; destruct ({premise} r) as ({' & '.join(names)}); rewrite smaller, larger; "
            f"eapply {one.name}; eassumption")
