"""One page for every paper: letters, assumptions and claims, each claim with the verdict of one stored run.

``python -m docs.site.papers REPORT`` keeps the verdicts of a report in ``docs/site/run.json``, with date and commit. It
refuses a report that other code than the current commit's made.
"""

import html
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from bounds.printing.pages import page
from bounds.registry.claims import find_claim
from bounds.registry.papers import FOLDERS, PAPERS, claims_of_paper, title_of
from docs.site.gathered import Pages, table
from docs.site.slides import EXTRA
from fedtheory.registry import find_algorithm
from verify.results.files import file_name
from verify.results.fingerprint import claim_as_text, digest, fingerprints
from verify.results.records import load_about, load_verdicts
from verify.results.store import KEPT, stored_settings, stored_verdict

__all__ = ["Run", "made_by_other_code", "main", "report", "stored", "write"]

ROOT = Path(__file__).resolve().parents[2]
STORED = Path(__file__).with_name("run.json")
_HEADING = re.compile(r"^### `([^`]+)`$", re.MULTILINE)
_LINES = re.compile(r"\[([^\]\n]+)\]\(\.\./\.\./bounds/papers/(\w+)/(\w+)\.toml#L(\d+)-L\d+\)")
ORDER = ("refuted", "ill-posed", "certified", "consistent", "undecided")


@dataclass(frozen=True)
class Run:
    """The verdicts of one run by claim, each with the digest of the claim that it is about; where they come from."""

    verdicts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    command: str = ""
    commit: str = ""
    date: str = ""

    @property
    def sentence(self) -> str:
        """Where the verdicts come from, in Markdown."""
        if not self.verdicts:
            return "No run is stored: `make site RUN=report-quick` shows the verdicts of a report."
        made = f" at commit `{self.commit[:12]}`" if self.commit else ""
        return f"Verdicts of `{self.command}`{made}, {self.date}."

    def word(self, claim: Claim) -> str:
        """The verdict on a claim, with a remark where it was another version of the claim."""
        found = self.verdicts.get(claim.id)
        if found is None:
            return "not in this run"
        same = found["claim"] == digest(claim_as_text(claim))
        return found["verdict"] + ("" if same else " (of an earlier version of the claim)")

    @staticmethod
    def anchor(claim_id: str) -> str:
        """The target of a claim on the page of its paper."""
        return "claim-" + re.sub(r"[^a-z0-9]+", "-", file_name(claim_id).lower())


def stored() -> Run:
    """The run kept beside this file; an empty one where there is none."""
    return Run(**json.loads(STORED.read_text(encoding="utf-8"))) if STORED.exists() else Run()


def report(folder: Path) -> Run:
    """The verdicts of a report's folder. Reports do not say which commit made them; the date is that of the file."""
    about = load_about(folder)
    verdicts = {}
    for verdict in load_verdicts(folder):
        try:
            text = digest(claim_as_text(find_claim(verdict.id)))
        except LookupError:
            continue
        verdicts[verdict.id] = {"verdict": verdict.verdict, "evidence": verdict.evidence, "claim": text}
    when = datetime.fromtimestamp((folder / "verdicts.json").stat().st_mtime, UTC)
    command = re.sub(r" --out \S+", "", about["command"])
    return Run(verdicts, command, "", f"{when:%Y-%m-%d}")


def write(pages: Pages, run: Run) -> None:
    """The pages of all papers, and the page that counts their verdicts."""
    rows = []
    for paper in PAPERS:
        claims = claims_of_paper(paper)
        counts = Counter(run.verdicts[i]["verdict"] for i in claims if i in run.verdicts)
        title = title_of(paper)
        rows.append((f"[{paper}]({paper}.md)", title, len(claims),
                     *(counts[word] if counts else "-" for word in ORDER)))
        pages.write(f"papers/{paper}.md", _page(paper, claims, run))
        for path in sorted(FOLDERS[paper].glob("*.toml")):
            pages.write(f"{EXTRA}/papers/{paper}-{path.stem}.html", _with_lines(paper, path))
    pages.write("papers/index.md", "\n".join([
        "# Papers", "", run.sentence, "", "A number counts claims: statements, lemmas, steps of proofs and readings of the "
        "print; a dash stands where the run has none. [What each verdict means](../verdicts.md).", "",
        *table(("paper", "title", "claims", *ORDER), rows),
        "```{toctree}", ":hidden:", "", *PAPERS, "```", ""]))


def _with_lines(paper: str, path: Path) -> str:
    """A claim file as a page on which every line has its number as a target."""
    name = f"{paper}/{path.name}"
    lines = (f'<a id="L{n}"></a>{html.escape(line)}' for n, line in enumerate(path.read_text("utf-8").splitlines(), 1))
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title></head><body>\n'
            f'<p><a href="{paper}.html">{paper}</a>: the claim file <code>{name}</code></p>\n<pre>'
            + "\n".join(lines) + "</pre>\n</body></html>\n")


def _page(paper: str, claims: Mapping[str, Claim], run: Run) -> str:
    text = page(paper, find_algorithm)
    text = re.sub(r"\]\(\.\./algorithms\.md#([\w-]+)\)", r"](../methods/\1.md)", text)
    text = text.replace("[algorithms.md](../algorithms.md) has", "[The methods' pages](../methods/index.md) have")
    text = text.replace("Written by `make pages`. ", "")
    text = _LINES.sub(r'<a href="\2-\3.html#L\4">\1</a>', text)
    def heading(found) -> str:
        claim = claims[found[1]]
        verdict = f"**{run.word(claim)}**"
        if claim.id in run.verdicts:
            found_then = run.verdicts[claim.id]
            verdict = f"[{run.word(claim)}]{{.verdict .{found_then['verdict']}}} {_literal(found_then['evidence'])}"
        return f"({run.anchor(claim.id)})=\n{found[0]}\n\n{verdict}"

    head, _, rest = text.partition("\n## ")
    return f"{head}\n{run.sentence}\n\n## {_HEADING.sub(heading, rest)}"


def _literal(text: str) -> str:
    """A text whose signs mean themselves in Markdown."""
    return re.sub(r"([\\`*_\[\]<>$|#{}])", r"\\\1", text)


def main(arguments: list[str]) -> int:
    """Keep the verdicts of the report in the folder given, if the present commit's code made all of them.

    Returns:
        0; 1 where there are changes that are not committed, or verdicts that other code made; 2 without a folder.
    """
    if len(arguments) != 1:
        print("usage: python -m docs.site.papers REPORT", file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    if changed := _git("status", "--porcelain", "--", "bounds", "fedtheory", "synthetic", "verify"):
        print(f"commit first: {changed.splitlines()[0]}", file=sys.stderr)
        return 1
    run = report(folder)
    if strange := made_by_other_code(folder, run):
        print(f"{len(strange)} verdicts were made by other code, among them {strange[0]}", file=sys.stderr)
        return 1
    STORED.write_text(json.dumps(asdict(replace(run, commit=_git("rev-parse", "HEAD"))), indent=1) + "\n", encoding="utf-8")
    return 0


def made_by_other_code(folder: Path, run: Run) -> list[str]:
    """Ids of verdicts that the report's results do not have, undamaged, with the fingerprint of today's claim and code."""
    from verify.referee.batch import related_at

    settings = stored_settings(folder)
    today = fingerprints(map(find_claim, run.verdicts), settings, related_at(settings["budget"]))

    def is_strange(claim_id: str, mark: str) -> bool:
        try:
            kept = stored_verdict(folder, claim_id, mark)
        except ValueError:
            return True
        shown = run.verdicts[claim_id]
        return kept is None or KEPT in kept.details or (kept.verdict, kept.evidence) != (shown["verdict"], shown["evidence"])

    return [claim_id for claim_id, mark in today.items() if is_strange(claim_id, mark)]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
