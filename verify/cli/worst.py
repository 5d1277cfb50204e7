"""The command ``fedtheory worst``."""

import json as json_text
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from verify.cli.files import FIGURE, check_figure, is_figure
from verify.cli.names import method_names, nearest_method
from verify.cli.shared import choose_claim

__all__ = ["worst"]

_SIZES = ("clients", "rounds", "local_steps", "participants", "layers")  # which are whole numbers
_STEPS_SHOWN = 6  # of those that claims allow, the best ones
_MOST_VALUES = 100  # of a range


def worst(
    name: Annotated[str, typer.Argument(metavar="CLAIM|METHOD", help="A claim about runs (id or file), or a method.")],
    given: Annotated[list[str] | None, typer.Argument(
        metavar="[NAME=VALUE]...", help="Sizes and numbers: 2, 0.1, 1/3, or a formula of others such as eta_l=1/L.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A file: .json for the proof, .svg, .pdf or .png for the figure "
                                                           "of --plot.")] = None,
    functions: Annotated[str | None, typer.Option("--class", help="Of a method: smooth-strongly-convex, smooth-convex or "
                                                                  "smooth.")] = None,
    measure: Annotated[str | None, typer.Option(help="Of a method: distance, value, gradient or least-gradient.")] = None,
    tune: Annotated[str | None, typer.Option(help="Of a method: a parameter, eta_l or NAME=LOW:HIGH, to choose.")] = None,
    potential: Annotated[bool, typer.Option("--potential", help="Of a method: prove a rate for every number of "
                                                                "rounds.")] = False,
    plot: Annotated[Path | None, typer.Option(help=f"Over rounds. {FIGURE}")] = None,
    function: Annotated[Path | None, typer.Option(help=f"Of a method: its worst functions. {FIGURE}")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Find the worst case over every function of a class, of a claim or of a method.

    Of a claim: how large its left side is at most in units of its bound. If the claim holds there is a proof in rational
    numbers, which --out FILE.json writes and `fedtheory check` checks; if it is false, a function that attains the worst
    case. --plot draws bound, worst case and runs on random quadratics over 5 rounds, or as many as rounds=N says, or over a
    range NAME=first:last[:count][:log].

    Of a method: the largest measure after its rounds. NAME is one of its arguments, or rounds, clients, L, mu, zeta (mean of
    |grad F_k(x_*)|^2 is at most its square), variates, or given (what is at most 1 at the start). --tune eta_l chooses the
    step, and shows the largest steps that theorems and controls about the method allow at these numbers, and how bad these
    are. --potential proves, for smooth strongly convex functions, the least rate per round of a potential, for every number
    of rounds: a quadratic form in the method's state, with exact weights and a proof for --out.

    Exit status: 0 a proof, or a finite worst case; 1 none; 2 bad input, or what has no worst case of this kind.
    """
    if is_figure(out):
        if plot is not None:
            raise ValueError(f"--out {out} and --plot {plot} are both figures; give one")
        plot, out = out, None
    options = {"--class": functions, "--measure": measure, "--tune": tune, "--function": function}
    if potential:
        if unused := [option for option, value in (options | {"--plot": plot}).items() if value is not None]:
            raise ValueError(f"{unused[0]} does not go with --potential")
        return _potential(name, given or [], out, json)
    if name in method_names():
        if out is not None:
            raise ValueError(f"a method has a proof with --potential only; --out takes a figure here, and got {out}")
        question = {"functions": functions, "measure": measure}
        return _worst_of_method(name, given or [], question, tune, plot, function, json)
    if unused := [option for option, value in options.items() if value is not None]:
        raise ValueError(f"{unused[0]} is for a method, and {name} is none; `fedtheory algorithms` lists the methods")
    return _worst_of_claim(name, given or [], out, plot, json)


def _worst_of_claim(name: str, given: list[str], out: Path | None, plot: Path | None, json: bool) -> int:
    if near := nearest_method(name):
        raise LookupError(f"unknown claim or method {name!r}; did you mean {near!r}?")
    claim = choose_claim(name)

    from verify.api.worst import check_about_runs, claim_numbers
    from verify.api.worst import worst as worst_case
    from verify.results.files import write_json
    from verify.worst.worst_of_lengths import about_lengths

    check_figure("--plot", plot)
    check_about_runs(claim)
    if about_lengths(claim) and plot is not None:
        raise ValueError(f"{claim.id} is about lengths; --plot draws claims about squares")
    texts, along = _split_range(given)
    if along and plot is None:
        raise ValueError(f"{along['over']} has several values, which --plot draws; give one value, or --plot")
    found = worst_case(claim, **texts | ({along["over"]: along["values"][-1]} if along else {}))
    if found.certificate and out:
        write_json(out, found.certificate)
    report: dict[str, Any] = {
        "claim": found.claim, "answer": found.answer, "function": found.function, "scope": found.scope,
        "without a value": found.setting.unknown,
        "basis vectors": found.letters, "factors": _as_json(found.reliable), "proven": found.certificate is not None,
        "reason": found.reason}
    figures: list[Path] = []
    if plot is not None:
        from verify.results.drawing import save_as
        from verify.worst.claim_figure import bound_over_rounds, bound_over_rounds_figure

        over = bound_over_rounds(claim, claim_numbers(claim, texts), **along)
        figures += save_as(bound_over_rounds_figure(over), plot).values()
        columns = {"values": over.values, "exact": over.exact, "worst run found": over.found, "middle run": over.middle}
        report[f"over {over.over}"] = {name: _as_json(column) for name, column in columns.items()}
    if json:
        print(json_text.dumps(report, indent=1))
    else:
        _print_claim(name, found, out, figures)
    return 0 if found.certificate else 1


def _print_claim(name: str, found, out: Path | None, figures: list[Path]) -> None:
    from verify.cli import console

    print(found.claim, found.answer)
    if found.holds is not False:
        print("for", f"{found.functions}, in every dimension, under all hypotheses of the claim")
        if found.ratio is None and not found.holds:
            print(f"`fedtheory verify {name}` looks for a counterexample")
    else:
        if found.function:
            print("a function that attains it:", found.function)
        print("over", f"{found.functions}, in every dimension")
        print(f"the solver computes in floats; `fedtheory verify {name}` looks for a counterexample in exact numbers")
    if len(found.reliable) > 1:
        rows = [(str(number), "not solved reliably" if factor is None else f"{factor:.6f}")
                for number, factor in enumerate(found.reliable)]
        console.out().print(console.names_table(("pair of sides", "least factor of the larger side"), rows))
    if found.certificate is not None:
        print("proof: found, and accepted by the checker;", f"wrote {out}" if out else "--out FILE.json writes it")
    for path in figures:
        print("figure:", path)


def _as_json(numbers) -> list:
    """Converts numbers that JSON lacks to text."""
    return [number if number is None or isfinite(number) else str(number) for number in numbers]


def _split_range(given: list[str]) -> tuple[dict[str, str], dict[str, Any]]:
    """Returns numbers as text by name, and the name and values of one that is given as a range."""
    from fractions import Fraction

    from verify.cli.settings import parse_numbers, parse_texts

    ranges = [text for text in given if ":" in text]
    if len(ranges) > 1:
        raise ValueError(f"one number may have several values; got {', '.join(ranges)}")
    texts, along = parse_texts([text for text in given if text not in ranges]), {}
    for name, values in parse_numbers(ranges, _SIZES, _MOST_VALUES).items():
        along = {"over": name, "values": [Fraction(str(value)).limit_denominator(10**9) for value in values.tolist()]}
    return texts, along


def _worst_of_method(name: str, given: list[str], question: dict, tune: str | None, plot: Path | None,
                     function: Path | None, json: bool) -> int:
    from verify.cli import console
    from verify.results.drawing import save_as
    from verify.worst import tuning
    from verify.worst.method_worst_case import worst as worst_of

    check_figure("--plot", plot)
    check_figure("--function", function)
    if reserved := {"method", "low", "high", "functions"} & {text.partition("=")[0] for text in given}:
        raise ValueError(f"{name} takes no argument {min(reserved)!r}")
    settings = {key: value for key, value in question.items() if value is not None} | _settings(given)
    beside, unknown = [], ()
    if tune is not None:
        parameter, _, ends = tune.partition("=")
        bounds = _settings([f"{end}={value}" for end, value in zip(("low", "high"), ends.split(":"), strict=False) if value])
        tuned = tuning.tuned(name, parameter, **bounds, **settings)
        if parameter == "eta_l":
            from verify.worst.published_step_sizes import published_step_sizes  # which loads claims

            beside = published_step_sizes(name, **settings)
        settings[parameter], unknown, found = tuned.value, tuned.unknown, tuned.worst
    else:
        found = worst_of(name, **settings)
    asked = ("functions", "measure", "given", "rounds", "clients")
    own = {key: value for key, value in settings.items() if key not in asked}
    report = {"method": name, "answer": found.answer, "settings": own, "class": found.functions,
              "measure": found.question.measure, "at most 1 at the start": found.question.given, "rounds": found.rounds,
              "clients": found.clients, "worst ratio": found.ratio if found.ratio < float("inf") else None,
              "tight": found.tight, "basis vectors": found.letters, "seconds": round(sum(found.seconds), 4)}
    if unknown:
        report[f"not solved reliably at {parameter}"] = [float(f"{value:.4g}") for value in unknown]
    figures: list[Path] = []
    if plot is not None:
        rounds = [*tuning.over_rounds(name, **settings | {"rounds": found.rounds})]
        figures += save_as(tuning.rounds_figure(rounds), plot).values()
        report["over rounds"] = [float(f"{one.ratio:.6g}") for one in rounds]
    if function is not None:
        report["measured on the worst functions"], paths = _draw_and_measure(found, function)
        figures += paths
    if json:
        ratios = [one._asdict() | {"ratio": one.ratio if one.ratio < float("inf") else None} for one in beside]
        print(json_text.dumps(report | {"largest steps that claims allow": ratios} if beside else report, indent=1))
    else:
        print(found.answer)
        said = ("answer", "worst ratio", "tight", "measure", "at most 1 at the start", "basis vectors")
        shown = {key: value for key, value in report.items() if key not in said}
        shown |= {"settings": [f"{key}={value}" for key, value in own.items()]}
        rows = [(key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)) for key, value in shown.items()]
        console.out().print(console.names_table(("what", "value"), rows))
        if beside:
            rows = [one.row() for one in beside[:_STEPS_SHOWN]]
            console.out().print(console.names_table(("claims about the method", "the largest step that they allow"), rows))
        for path in figures:
            print("figure:", path)
    return 0 if found.ratio < float("inf") else 1


def _draw_and_measure(found, file: Path) -> tuple[float, Iterable[Path]]:
    """Draws the worst functions, and runs the method on them with torch; returns the measured ratio and the files."""
    from synthetic.numbers.arrays import TORCH
    from verify.results.drawing import save_as
    from verify.worst.function import measured, worst_function
    from verify.worst.function_figure import function_figure

    functions = worst_function(found)
    paths = save_as(function_figure(functions), file).values()
    return measured(functions, TORCH)["ratio"], paths


def _potential(name: str, given: list[str], out: Path | None, json: bool) -> int:
    if name not in method_names():
        raise ValueError(f"--potential is for a method, and {name} is none; `fedtheory algorithms` lists the methods")

    from bounds.printing.render import letters_of, unicode
    from verify.cli import console
    from verify.results.files import write_json
    from verify.worst.potential import potential

    found = potential(name, **_settings(given, exact=True))
    proven = found.proven
    if proven is not None and out:
        write_json(out, found.certificate)
    rest = {} if proven is None else {
        "rate": str(proven.rate), "about": float(proven.rate), "floor": str(proven.floor),
        "potential": unicode(proven.potential, letters_of(proven.claim)), "for": proven.scope}
    report = {"method": name, "least rate of a potential": None if proven is None else found.best,
              "basis vectors": found.letters, "proven": proven is not None, "reason": found.reason} | rest
    if json:
        print(json_text.dumps(report, indent=1))
    else:
        console.out().print(console.names_table(("what", "value"), [(key, str(value)) for key, value in rest.items()]))
        print(f"not proven: {found.reason}" if proven is None else _potential_in_words(proven))
    return 1 if proven is None else 0


def _potential_in_words(proven) -> str:
    """The statement that a potential proves, in words."""
    floor = f" + {float(proven.floor):.6g} zeta^2, if the mean of |grad F_k(x_*)|^2 is at most zeta^2" * (proven.floor > 0)
    return f"proven: |x_R - x_*|^2 <= {float(proven.rate):.9g}^R V(0){floor}"


def _settings(texts: Iterable[str], exact: bool = False) -> dict[str, Any]:
    """Parses the arguments of a method: whole numbers, floats (1/3 is a third) or exact fractions, formulas such as 1/L, and
    words."""
    from verify.api.worst import method_numbers
    from verify.cli.settings import parse_settings

    settings: Mapping[str, Any] = parse_settings(texts)
    texts_of = {name: str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
                for name, value in settings.items()}
    return method_numbers(texts_of, exact)
