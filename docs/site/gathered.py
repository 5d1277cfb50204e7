"""The folder of sources that Sphinx reads: written only where something changed, and without leftovers."""

import re
from pathlib import Path

__all__ = ["Pages", "table", "written_by_hand"]

_NAMED = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)  # a block that is a file


class Pages:
    """The sources in ``folder``; what is not written again is removed at the end."""

    def __init__(self, folder: Path):
        self.folder, self._written = folder, set()

    def write(self, name: str, content: str | bytes) -> None:
        """Write the file ``name`` unless it has this content."""
        path, data = self.folder / name, content.encode() if isinstance(content, str) else content
        self._written.add(path)
        if path.exists() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def keep(self, name: str) -> bool:
        """Whether the file ``name`` is there from an earlier build; it then stays."""
        self._written.add(self.folder / name)
        return (self.folder / name).exists()

    def remove_others(self) -> None:
        """Remove every file that was neither written nor kept."""
        for path in self.folder.rglob("*"):
            if path.is_file() and path not in self._written:
                path.unlink()


def written_by_hand(pages: Pages, docs: Path) -> None:
    """The pages of ``docs`` and its tutorials; a block that is a file has its name as a caption."""
    made = ("algorithms.md", "papers")  # by make pages
    for path in sorted([*docs.glob("*.md"), *docs.glob("tutorials/*.md")]):
        name = path.relative_to(docs).as_posix()
        if name not in made:
            pages.write(name, _NAMED.sub(r"```{code-block} \1\n:caption: \2", path.read_text(encoding="utf-8")))


def table(head: tuple[str, ...], rows) -> list[str]:
    """A table in Markdown; bars in cells are escaped."""
    def line(cells):
        return "| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |"

    return [line(head), line("---" for _ in head), *map(line, rows), ""]
