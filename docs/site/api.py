"""The reference of the API: one page for every room, from docstrings; what ``import fedtheory`` gives, with links."""

import importlib
import inspect
import pkgutil

import fedtheory
from docs.site.gathered import Pages, table
from fedtheory.registry import ALGORITHMS

__all__ = ["write"]

PACKAGES = ("fedtheory", "synthetic", "bounds", "verify")
#: claims have pages of their own; files that are run and never imported, and files that need marimo or Triton
LEFT_OUT = ("bounds.papers", "bounds.controls", "verify.checker.__main__", "fedtheory.testing.mutants",
            "verify.demos.notebooks", "verify.demos.live", "fedtheory.card_kernels")


def write(pages: Pages) -> None:
    """The pages of all rooms, and the index."""
    rooms = [room for package in PACKAGES for room in _rooms(package)]
    for room, modules in rooms:
        pages.write(f"api/{room}.rst", _page(room, modules))
    rows = [(f"[{room}]({room}.rst)", inspect.getdoc(importlib.import_module(room)).splitlines()[0]) for room, _ in rooms]
    pages.write("api/index.md", "\n".join([
        "# Reference", "", "From docstrings. `import fedtheory as ft` is the way in; a script seldom needs more.", "",
        *_front(), "## Rooms", "", "[The architecture](../architecture.md) says who imports whom.", "",
        *table(("room", "what it is for"), rows), "```{toctree}", ":hidden:", "", *(room for room, _ in rooms), "```", ""]))


def _front() -> list[str]:
    """The names of the facade with their first sentences."""
    rows = []
    for name in sorted({*fedtheory.__all__, *fedtheory.ABOVE}, key=str.lower):
        value = getattr(fedtheory, name)
        if not (inspect.isfunction(value) or inspect.isclass(value)):
            continue
        path, kind = f"{value.__module__}.{value.__qualname__}", "class" if inspect.isclass(value) else "func"
        rows.append((f"{{py:{kind}}}`ft.{name} <{path}>`", _first_sentence(value)))
    return ["## `import fedtheory as ft`", "", *table(("name", "what it does"), rows),
            "[Every method](../methods/index.md) is there by its name, as `ft.scaffold` or `ft.fa_nt`.", ""]


def _first_sentence(value) -> str:
    text = (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ")
    return text.split(". ")[0].rstrip(".").replace("``", "`").replace("::", "").replace(":class:", "").replace(":func:", "")


def _rooms(package: str):
    """(room, modules): a folder of code with the files in it."""
    found: dict[str, list[str]] = {package: []}
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        if module.name.startswith(LEFT_OUT):
            continue
        if module.ispkg:
            found[module.name] = []
        else:
            found.setdefault(module.name.rpartition(".")[0], []).append(module.name)
    return sorted((room, sorted(modules)) for room, modules in found.items())


def _page(room: str, modules: list[str]) -> str:
    lines = [room, "=" * len(room), "", f".. automodule:: {room}", "   :no-index:", "   :no-members:", ""]
    makers = {(entry.make.__module__, entry.make.__qualname__) for entry in ALGORITHMS.values()}
    for name in modules:
        lines += [name.rpartition(".")[2], "-" * len(name), "", f".. automodule:: {name}", "   :members:",
                  "   :show-inheritance:"]
        hidden = sorted(maker for module, maker in makers if module == name)
        lines += [f"   :exclude-members: {', '.join(hidden)}"] if hidden else []
        lines.append("")
    return "\n".join(lines)
