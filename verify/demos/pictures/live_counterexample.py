"""A counterexample found live: an inequality that the reader types, the search against it, and the certificate."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from bounds.language.claim import Claim
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.demos.controls import Choice, Text
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, FONT, THIRD, legend, name, panels, plain
from verify.exact.check import check
from verify.exact.one_dimensional_run import one_dimensional_run
from verify.referee.decide import Settings, decide
from verify.results.drawing import GREY
from verify.results.verdict import Verdict

__all__ = ["CONTROLS", "Searched", "caption", "certificate", "compute", "picture", "typed"]

METHODS = ("fedavg", "scaffold", "fedprox", "fedswa")
CONTROLS = {
    "statement": Text("inequality", "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)"),
    "condition": Text("conditions, with ; between them", "eta_l[t] <= 1/L for t in 0..iterations-1"),
    "method": Choice("method", METHODS, "fedavg"),
}
LONGEST = 500  # signs of a line
_MOST, _BROKEN = 1.5, 1 + 1e-9  # the largest ratio that is shown; from where on one is red
ASSUMED = ("L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1",
           "sigma_sq_client[k] <= 0 for k in 0..clients-1")


class Searched(NamedTuple):
    """The result of a live search: the error in the text; or by batch of the search its stage, the instances tried by then,
    and the ratios left/right of those that met the hypotheses; when it has ended the verdict; the stand-alone checker's
    answer for the certificate; and for a counterexample in one dimension the losses (functions, places), the objective
    first, and the run (rounds + 1,)."""

    wrong: str
    stages: tuple[str, ...] = ()
    tried: tuple[int, ...] = ()
    ratios: tuple[np.ndarray, ...] = ()
    verdict: Verdict | None = None
    checked: str = ""
    places: np.ndarray | None = None
    losses: np.ndarray | None = None
    run: np.ndarray | None = None


def typed(statement: str, condition: str, method: str) -> Claim:
    """The claim that these lines make, read as a file of claims is: text is data, and nothing in it runs.

    Raises:
        ValueError: not in the language, too long, or not one of ``METHODS``; with the field and the column.
    """
    for line in (statement, condition):
        if len(line) > LONGEST:
            raise ValueError(f"a line has at most {LONGEST} signs; got {len(line)}")
    if method not in METHODS:
        raise ValueError(f"the method must be one of {', '.join(METHODS)}; got {method[:40]!r}")
    row = {"id": "typed/inequality", "method": method, "assume": list(ASSUMED), "statement": statement,
           "conditions": [part for part in condition.split(";") if part.strip()]}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "typed.toml"  # strings of JSON are strings of TOML
        lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in row.items())
        path.write_text(f"[[claim]]\n{lines}\n", encoding="utf-8")
        try:
            return load_claims(path, faults_of_method)[0]
        except ValueError as error:
            said = str(error).replace(f"{path}, ", "").replace(str(path), "the text")
            for number, key in enumerate(row, start=2):  # below the line of the table
                said = said.replace(f"line {number}: ", f"{key}: ")
            raise ValueError(said) from None


def compute(statement: str, condition: str, method: str, watch: Callable[[Searched], None] | None = None) -> Searched:
    """The referee's verdict at its smallest budget, with the course of the search.

    Args:
        watch: called during the search with its course so far, as often as the number of instances tried has doubled.
    """
    try:
        claim = typed(statement, condition, method)
    except ValueError as error:
        return Searched(str(error))
    seen: list[tuple[str, int, np.ndarray]] = []
    next_look = 1

    def look(stage, found) -> None:
        nonlocal next_look
        seen.append((stage, found.tried, found.latest))
        if watch and found.tried >= next_look:
            next_look = 2 * found.tried
            watch(Searched("", *zip(*seen, strict=True)))

    verdict = decide(claim, Settings(budget="quick", federations=False, watch=look))
    course = tuple(zip(*seen, strict=True)) if seen else ((), (), ())
    instance = verdict.details.get("instance")
    if verdict.verdict != "refuted" or not instance:
        return Searched("", *course, verdict)
    result = check(instance, claim)
    checked = f"{'accepted' if result.accepted else 'rejected'}: {result.reason}"
    run = one_dimensional_run(instance, claim)
    return Searched("", *course, verdict, checked, *((run.places, run.losses, run.models) if run else ()))


def picture(found: Searched) -> Figure:
    """Every instance that was tried, by its ratio; and the run on the counterexample. The search may be under way."""
    figure, (search, run) = panels()
    if not found.tried:
        search.set_axis_off()
        run.set_axis_off()
        search.text(0, 0.5, "no search", fontsize=14, color=GREY, fontfamily="STIXGeneral")
        return figure
    before = 0
    for tried, ratios in zip(found.tried, found.ratios, strict=True):
        shown, places = np.minimum(ratios, _MOST), np.linspace(before, tried, len(ratios), endpoint=False)
        breaks = ratios > _BROKEN
        for those, colour in ((~breaks, CORRECTED), (breaks, DRIFTING)):
            search.plot(places[those], shown[those], ".", color=colour, markersize=3, alpha=0.6, rasterized=True)
        before = tried
    search.axhline(1, color=EXACT, linewidth=0.9)
    search.set_ylim(-0.05, _MOST + 0.05)
    title = "the search" + ("; red: broken" if _broken(found) else "") + (" (under way)" if found.verdict is None else "")
    name(search, "instances tried", f"left side / right side, at most {_MOST:g}", title)
    if found.run is None:
        run.set_axis_off()
        return figure
    for number, (own, colour) in enumerate(zip(found.losses, (EXACT, DRIFTING, THIRD), strict=False)):
        label = f"$F_{number}$" if number else "$F$"
        run.plot(found.places, own, color=colour, linewidth=1.0 if number else 1.8, label=label)
    heights = np.interp(found.run, found.places, found.losses[0])
    run.plot(found.run, heights, "o", color=CORRECTED, markersize=6, label="the models of the run")
    for number, (x, height) in enumerate(zip(found.run[:4], heights, strict=False)):
        run.annotate(f"$x_{number}$", (x, height), textcoords="offset points", xytext=(4, 7), color=CORRECTED, fontsize=11,
                     **FONT)
    run.set_ylim(top=1.5 * max(found.losses[0].max(), 1e-9))
    name(run, "$x$", "loss", "the counterexample")
    legend(run)
    return figure


def _broken(found: Searched) -> int:
    """The number of instances that violate the inequality in floating point."""
    return sum(int((ratios > _BROKEN).sum()) for ratios in found.ratios)


def caption(found: Searched) -> str:
    """The verdict in words, or how far the search is; what was typed stands as text."""
    if found.wrong:
        return plain(found.wrong)
    if found.verdict is None:
        return (f"The search is under way: {found.tried[-1]} instances tried, {sum(map(len, found.ratios))} meet the "
                f"conditions, {_broken(found)} seem to break the inequality.")
    checker = f" The stand-alone checker: {plain(found.checked)}." if found.checked else ""
    return f"**{found.verdict.verdict}**: {plain(found.verdict.evidence)}.{checker}"


def certificate(found: Searched) -> str:
    """The certificate of a refuted inequality, as a file has it; empty if there is none."""
    refuted = found.verdict is not None and found.verdict.verdict == "refuted" and "instance" in found.verdict.details
    return json.dumps(found.verdict.details["instance"], indent=1) if refuted else ""
