"""The commands that decide and report: verify, explain, replay, report."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from verify.cli import shared

__all__ = ["Device", "Dtype", "InDtype", "OnDevice", "Papers", "Seed", "Statement", "explain", "replay", "report", "verify"]


class Budget(StrEnum):
    quick, standard, thorough = "quick", "standard", "thorough"


class Device(StrEnum):
    cpu, cuda = "cpu", "cuda"


class Dtype(StrEnum):
    float64, float32 = "float64", "float32"


Out = Annotated[Path, typer.Option("--out", help="Directory of the report.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of all random choices.")]
OnDevice = Annotated[Device, typer.Option("--device", help="Device that computes.")]
InDtype = Annotated[Dtype, typer.Option("--dtype", help="Numbers of the runs; verdicts need float64.")]
Statement = Annotated[str | None, typer.Option(
    "--statement", help="What the certificate refutes: a file of claims, or what `show --statement` prints.")]
Papers = Annotated[list[str] | None, typer.Option("--paper", help="Only this paper's claims; may be given again.")]


def verify(
    claim: Annotated[list[str] | None, typer.Argument(
        help="Ids of claims, their papers, files, or FILE:ID; all of them if none is given.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All claims, restricted by the filters.")] = False,
    paper: Papers = None,
    kind: Annotated[str | None, typer.Option(help="Only claims of this kind, for example theorem.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Only claims about runs of this algorithm.")] = None,
    explicit: Annotated[bool, typer.Option("--explicit", help="Only claims whose constants are explicit.")] = False,
    budget: Annotated[Budget, typer.Option(help="How hard to search.")] = Budget.quick,
    seeds: Annotated[int, typer.Option(help="Number of runs where an expectation is sampled.")] = 64,
    device: Annotated[Device, typer.Option(help="Device that computes, in float64, on which verdicts rest.")] = Device.cpu,
    seed: Seed = 0,
    out: Out = Path("report"),
    fresh: Annotated[bool, typer.Option("--fresh", help="Delete the results in the directory and start over.")] = False,
    without_stage: Annotated[list[str] | None, typer.Option(
        help="Stage or corner that the search leaves out, for measurements; may be given again.")] = None,
    cluster: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Scheduler of dask on whose workers claims are decided, such as tcp://host:8786.")] = None,
) -> int:
    """Referee claims and write a report.

    Searches for counterexamples, decides, prints a table, and writes pages, figures, certificates and verdicts.json.
    Each verdict is on disk as soon as it is known. The same command continues an interrupted one. Results of other claims
    stay; those of another version of a claim or of the code are marked.

    Exit status: 0 nothing is refuted or ill-posed; 1 something is; 2 bad input; 3 the disk is full; 130 interrupted.
    Decided claims are kept in every case.
    """
    from verify.results.files import FULL, writable_directory

    if everything and claim:
        raise ValueError(f"--all takes no names of claims; got {', '.join(claim)}")
    shared.at_least("--seeds", seeds, 2)
    shared.at_least("--seed", seed, 0)
    chosen = shared.filter_claims(shared.choose_claims(claim or [], paper), kind, algorithm, explicit)
    shared.check_device(device)

    from verify.search.budget import BUDGETS
    from verify.search.stages import switched_on

    switched_on(without_stage or [])
    writable_directory(out)

    from verify.cli import console
    from verify.referee.batch import referee_into
    from verify.results.commands import command
    from verify.results.numerals import counted
    from verify.results.store import Store, is_finished

    options = {"budget": budget, "seeds": seeds, "device": device, "seed": seed, "out": out, "without-stage": without_stage}
    filters = {"paper": paper, "kind": kind, "algorithm": algorithm}
    flags = ["--all"] * everything + ["--explicit"] * explicit
    names = shared.names_in_files()
    settings = {"budget": budget.value, "seeds": seeds, "device": device.value, "seed": seed}
    if without_stage:
        settings["without"] = sorted({*without_stage})
    with Store(out, settings, fresh=fresh) as store:
        with console.Progress(len(chosen)) as shown:
            outcome = referee_into(
                store, chosen, begun=shown.begin, progress=shown.add,
                command=command("verify", *(claim or []), *flags, **filters, **options),
                command_of=lambda claim_id: command("verify", names.get(claim_id, claim_id), **options),
                cluster=cluster,
            )
        for message in outcome.messages:
            console.note(message)
        if outcome.decided:
            many = len(outcome.decided) > console.MOST_ROWS
            console.out().print((console.paper_table if many else console.verdict_table)(outcome.decided))
            console.out().print(console.verdict_summary(outcome.decided))
        if outcome.stopped_by:
            console.error(f"{outcome.stopped_by}; {len(outcome.decided)} of {len(chosen)} claims are kept in {out}")
            return 3
        if outcome.kept:
            title = "Referee's report: " + ", ".join(dict.fromkeys(v.id.split("/")[0] for v in outcome.kept))
            try:
                _write_pages(outcome.kept, out, title=title, command="\n".join(outcome.commands),
                             versions=shared.versions())
            except OSError as problem:
                if problem.errno not in FULL:
                    raise
                console.error(f"{shared.explain(problem)}; the verdicts on {len(outcome.decided)} claims are kept in "
                              f"{out}; make room and run the same command again, which writes the pages")
                return 3
    if outcome.interrupted:
        console.error(f"interrupted after {len(outcome.decided)} of {len(chosen)} claims, which are kept in {out}; the same "
                      "command continues from there")
        return 130
    if failed := [v for v in outcome.decided if not is_finished(v)]:
        many = f"{counted(len(failed), 'claim')} {'is' if len(failed) == 1 else 'are'} not decided to the end"
        console.note(f"{many}: {', '.join(v.id for v in failed[:5])}{' ...' if len(failed) > 5 else ''}; the same command "
                     "tries again")
    from bounds.language.on_samples import leaves_mean_open

    if means := [c.id for c in chosen if leaves_mean_open(c)]:
        console.note(f"E averages over the data sets too in {', '.join(means[:5])}{' ...' if len(means) > 5 else ''}; "
                     'data_sets = "any" says that every data set is meant, "random" that the mean is')
    about_runs = {c.id for c in chosen if c.setting == "run"}
    open_ones = sum(v.verdict == "consistent" and v.id in about_runs for v in outcome.decided)
    if open_ones and not BUDGETS[budget.value].proofs:
        console.note(f"no proof was looked for of {open_ones} consistent claim{'s' * (open_ones > 1)} about runs; "
                     "--budget standard does that")
    return 1 if any(v.verdict in ("refuted", "ill-posed") for v in outcome.decided) else 0


def explain(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    out: Out = Path("report"),
    short: Annotated[bool, typer.Option("--short", help="Search nothing: leave out what the counterexample needs, and what "
                                        "would be true.")] = False,
) -> int:
    """Explain a verdict in words.

    Prints what the claim says, the evidence, and what would change the verdict. Of a refuted claim: the counterexample's run
    and both sides term by term, the step at which the proof breaks, which of noise, drift, sampling and the like it needs,
    and the nearest statements that survive (`fedtheory repair` finds more of them). Of one that holds: an instance on which
    it is tight. The verdict is that of the report, where what is found is kept for the claim's page; a claim without one is
    decided with the quick budget.
    """
    found = shared.choose_claim(claim)

    from bounds.registry.claims import claims_beside
    from verify.cli import console
    from verify.referee.batch import related_at
    from verify.referee.stored import replayed
    from verify.referee.workers import decide_or_say_why
    from verify.report.explain import explain as explained
    from verify.report.why import why
    from verify.results.commands import command
    from verify.results.fingerprint import fingerprints
    from verify.results.store import KEPT, add_details, stored_settings, stored_verdict

    settings = stored_settings(out)
    budget = settings["budget"] if settings.get("budget") in list(Budget) else "quick"
    verdict = stored_verdict(out, found.id, fingerprints([found], settings, related_at(budget))[found.id])
    stored = verdict is not None and KEPT not in verdict.details
    if verdict is None:
        from verify.referee.decide import Settings  # which loads what searches and proves

        name, budget = shared.names_in_files().get(found.id, found.id), "quick"
        console.note(f"{out} has no verdict on {found.id}; it is decided now, with the quick budget")
        verdict = replace(decide_or_say_why(found, Settings()), command=command("verify", name, out=out))
    else:
        (verdict,) = replayed([verdict], out)

    def kind_of(claim_id: str) -> str | None:
        there = stored_verdict(out, claim_id)
        current = [] if there is None else replayed([there], out)
        return next((one.verdict for one in current if KEPT not in one.details), None)

    others = [c for c in claims_beside(found).values() if c.block == found.block and c.id != found.id]
    with console.working("searching"):
        reasons = why(found, verdict, kind_of, searches=not short)
    if stored and reasons.as_details:
        add_details(out, found.id, reasons.as_details)
    readings = {c.id: (c.reading, kind_of(c.id)) for c in others}
    print(explained(found, verdict, readings, budget, out.as_posix(), reasons), end="")
    return 0


def replay(
    certificate: Annotated[Path, typer.Argument(help="A certificate, as reports contain them.")],
    statement: Statement = None,
    out: Annotated[Path | None, typer.Option("--out", help="Path of the figure, without its ending.")] = None,
) -> int:
    """Run a counterexample again with the method in float64.

    Prints both sides of this run and those of the certificate, draws them, and says whether the checker accepts. Of a growth
    certificate it runs the largest instance.

    Exit status: 0 accepted, and the sides agree; 1 not; 2 not a readable certificate.
    """
    from verify.api.check import stated_in
    from verify.cli import console
    from verify.exact.replay import replay as replayed
    from verify.growth.check import check_file, largest_member
    from verify.results.files import file_name

    claims, stated = stated_in(statement)
    data, claim = largest_member(certificate, claims)
    result, again = check_file(certificate, claims, stated), replayed(data, claim)
    rows = [(side, f"{own:.12g}", f"{exact:.12g}", data[side]) for side, own, exact in (
        ("left", again.left, again.exact_left), ("right", again.right, again.exact_right))]
    console.out().print(console.names_table(("side", "float64", "exact, about", "exact"), rows))
    print("the run agrees with the certificate" if again.agrees else "the run does NOT agree with the certificate")
    print("checker:", "accepted" if result.accepted else "rejected", "-", result.reason)
    if again.series:
        from verify.results.drawing import save
        from verify.results.figures import bound_and_measurement

        stem = out or Path(f"replay-{file_name(claim.id)}")
        paths = save(bound_and_measurement(again.series[0]), stem, ("svg", "png"))
        print("figure:", ", ".join(str(path) for path in paths.values()))
    else:
        print("figure: none; the statement has neither an index nor rounds over which to draw its sides")
    return 0 if result.accepted and again.agrees else 1


def report(directory: Annotated[Path, typer.Argument(help="A directory with verdicts.json.")]) -> int:
    """Write the pages and figures of a report again, from the verdicts.json in its directory.

    Certificates are replayed. A verdict that its certificate does not show is marked as not current, with the reason.
    """
    import os

    from verify.referee.stored import replayed
    from verify.results.files import writable_directory
    from verify.results.records import load_about, load_verdicts

    verdicts, about = replayed(load_verdicts(directory), directory, os.cpu_count() or 1), load_about(directory)
    writable_directory(directory)
    try:
        _write_pages(verdicts, directory, **about)
    except OSError:
        raise
    except Exception as problem:  # details may be anything
        path, what = directory / "verdicts.json", f"{type(problem).__name__}: {str(problem)[:200]}"
        raise ValueError(f"the verdicts in {path} cannot be shown, perhaps damaged: {what}") from problem
    return 0


def _write_pages(verdicts, out: Path, **about) -> None:
    import os

    from verify.cli import console
    from verify.report.html import write_report

    index = write_report(verdicts, out, workers=os.cpu_count() or 1, **about)
    console.out().print(f"report: {index}", soft_wrap=True)
