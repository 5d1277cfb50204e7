"""Draws the run of a one-dimensional counterexample: the clients' losses, the objective, and the models on it."""

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from verify.exact.one_dimensional_run import one_dimensional_run
from verify.report.reason import number_text
from verify.results.drawing import BLUE, GREEN, ORANGE, PURPLE, VERMILLION
from verify.results.numerals import significant

__all__ = ["run_picture"]

_WIDTH, _HEIGHT, _TOP, _FLOOR = 460, 190, 24, 165  # of the picture, of its panel; where the panel begins; its lowest line
_PLACES, _MOST_CLIENTS, _MOST_IN_WORDS = 41, 4, 6
_FARTHEST = 1e5  # pixels from the panel
_HIGHEST = 3  # times the objective's largest value: what lies higher is cut off
_CLIENTS = ((VERMILLION, "none"), (GREEN, "7 4"), (PURPLE, "3 3"), (ORANGE, "9 3 2 3"))  # colour and dashes


def run_picture(claim: Claim, data: Mapping[str, Any]) -> str:
    """The counterexample as SVG for a page, with a text alternative; empty where it is no run in one dimension, has more
    than four clients, or cannot be run again in floating point."""
    with np.errstate(all="ignore"):
        run = one_dimensional_run(data, claim, _PLACES)
    if run is None or len(run.losses) > 1 + _MOST_CLIENTS or not np.isfinite(run.losses).all():
        return ""
    shown = run.losses[:, (run.places >= run.ends[0]) & (run.places <= run.ends[1])]
    shown = shown if shown.size and np.ptp(shown) > 1e-9 * np.ptp(run.losses) else run.losses
    low = shown.min()
    high = min(shown.max(), low + _HIGHEST * (shown[0].max() - low)) if shown[0].max() > low else shown.max()
    high = high if high > low else low + 1
    across = (run.places[-1] - run.places[0]) / _WIDTH

    def x(place) -> float:
        return (place - run.places[0]) / across

    def y(loss) -> float:
        return float(np.clip(_FLOOR - (loss - low) / (high - low) * (_FLOOR - 32), -_FARTHEST, _FARTHEST))

    styles = [("currentColor", "none", 3), *((colour, dashes, 1.3) for colour, dashes in _CLIENTS)]
    free = [k for k, one in enumerate(data["instance"]["priority"], start=1) if not float(one)]
    names = ["objective", *(f"client {k}{', free' * (k in free)}" for k in range(1, len(run.losses)))]
    key, curves = "", ""
    for number, (name, losses, (colour, dashes, width)) in enumerate(zip(names, run.losses, styles, strict=False)):
        line = f'fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"'
        key += f'<path d="M{92 * number} 11h20" {line}/><text x="{92 * number + 24}" y="15">{name}</text>'
        curves += f'<path d="{_curve([x(place) for place in run.places], [y(loss) for loss in losses])}" {line}/>'
    dots = ""
    for numbers, place in _groups(run.models, 14 * across):
        height = y(np.interp(place, run.places, run.losses[0]))
        dots += (f'<circle cx="{x(place):.1f}" cy="{height:.1f}" r="4.5" fill="{BLUE}"/>'
                 f'<text x="{x(place):.1f}" y="{height - 9:.1f}" text-anchor="middle" font-weight="bold">{numbers}</text>')
    ends = "".join(f'<path d="M{x(end):.1f} 169v5" stroke="currentColor"/><text x="{x(end):.1f}" y="187" '
                   f'text-anchor="middle">{number_text(end)}</text>' for end in sorted({*run.ends}))
    panel = (f'<svg y="{_TOP}" width="{_WIDTH}" height="{_HEIGHT}"><path d="M0 169h{_WIDTH}" stroke="currentColor"/>'
             f'{curves}{dots}{ends}</svg>')
    words = escape(_in_words(run, names))
    return (f'<svg class="run" viewBox="0 0 {_WIDTH} {_TOP + _HEIGHT}" role="img" aria-label="{words}" '
            f'fill="currentColor" font-size="13">{key}{panel}</svg>')


def _curve(xs: list[float], ys: list[float]) -> str:
    """The path through points of equal distance: one Bézier curve where they lie on a parabola, else lines."""
    last, share = len(xs) - 1, np.linspace(0, 1, len(xs))
    control = 2 * ys[last // 2] - (ys[0] + ys[last]) / 2
    parabola = (1 - share)**2 * ys[0] + 2 * share * (1 - share) * control + share**2 * ys[last]
    if abs(parabola - ys).max() < 0.1:
        return f"M{xs[0]:.1f} {ys[0]:.1f}Q{xs[last // 2]:.1f} {control:.1f} {xs[last]:.1f} {ys[last]:.1f}"
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True))


def _groups(models: np.ndarray, near: float) -> list[tuple[str, float]]:
    """Rounds whose models lie together, as text, and the place of the first of them."""
    groups: list[list[int]] = []
    for number, model in enumerate(models):
        group = next((one for one in groups if abs(models[one[0]] - model) < near), None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    return [(", ".join(map(str, one)) if len(one) < 4 else f"{one[0]}, …, {one[-1]}", models[one[0]]) for one in groups]


def _in_words(run, names: list[str]) -> str:
    """Describes the picture for readers who cannot see it."""
    models = [significant(model, 4) for model in run.models]
    more = f", …, {models[-1]}" if len(models) > _MOST_IN_WORDS else ""
    return (f"The losses of {', '.join(names[1:])} and the objective, which is least at {significant(run.optimum, 4)}, over "
            f"the model. The models after 0, 1, … rounds are {', '.join(models[:_MOST_IN_WORDS])}{more}.")
