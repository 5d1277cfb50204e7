"""The documentation's page of methods: what each is, the papers' names for it, its arguments and its pseudocode.

``python -m fedtheory.pages`` prints it.
"""

import inspect

from fedtheory import algorithms
from fedtheory.registry import ALGORITHMS, Method

__all__ = ["blocks", "page"]


def page() -> str:
    """All registered methods in Markdown, in the order of their names."""
    conventions = inspect.cleandoc(algorithms.__doc__).partition("\n\n")[2]
    lines = ["# Algorithms", "", "Written by `python -m fedtheory.pages`.", "", *blocks(conventions)]
    for name in sorted(ALGORITHMS):
        lines += _method(name, ALGORITHMS[name])
    return "\n".join(lines) + "\n"


def _method(name: str, method: Method) -> list[str]:
    ids = f" In the papers' specifications: {', '.join(f'`{i}`' for i in method.ids)}." if method.ids else ""
    text = inspect.cleandoc(method.make.__doc__ or method.description + ".").partition("Example:")[0].rstrip()
    return ["", f"## {name}", "", f"{method.description[0].upper()}{method.description[1:]}. {method.source}.{ids}", "",
            *blocks(text)]


def blocks(text: str) -> list[str]:
    """The lines of a docstring, its blocks indented by four spaces as code."""
    lines: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.strip() == "::" or (not line and lines and not lines[-1]):
            continue
        starts = line.startswith("    ")
        if starts and not inside:
            lines.append("```text")
        if inside and not starts and line.strip():
            while not lines[-1]:
                lines.pop()
            lines += ["```", ""]
        inside = starts or (inside and not line.strip())
        lines.append(line[4:] if starts else line.replace("``", "`"))
    return [*lines, "```"] if inside else lines


if __name__ == "__main__":
    print(page(), end="")
