"""The page of the template of a project: its README, and every file as a block with its name."""

from pathlib import Path

from docs.site.gathered import Pages

__all__ = ["write"]

FOLDER = Path(__file__).resolve().parents[1] / "template"
_LANGUAGE = {".py": "python", ".toml": "toml"}


def write(pages: Pages) -> None:
    """Write the page ``template.md``."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in _LANGUAGE:
            content = path.read_text(encoding="utf-8").rstrip()
            name = path.relative_to(FOLDER).as_posix().replace("_", r"\_")
            text += f"\n```{{code-block}} {_LANGUAGE[path.suffix]}\n:caption: {name}\n\n{content}\n```\n"
    pages.write("template.md", text)
