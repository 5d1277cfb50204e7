"""The command about methods: ``fedtheory conform``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["conform", "method_of"]


def conform(
    method: Annotated[str, typer.Argument(help="A name from `fedtheory algorithms`, or FILE.py:NAME for one of your own.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="An argument of the method; may be given again."),
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this property; may be given again.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer federations, and failing ones stay as they are.")] = False,
) -> int:
    """Put a method through the conformance suite.

    Shapes, purity, batches, resuming, symmetries, units, fixed points, special cases, conservation laws, costs.

    Exit status: 0 everything that applies holds; 1 something fails; 2 bad input.
    """
    from verify.cli.names import check_method

    if ".py:" not in method:
        check_method(method)

    from fedtheory.testing import check_algorithm
    from verify.cli import console
    from verify.cli.settings import parse_settings

    arguments = parse_settings(settings or []) or None
    report = check_algorithm(method_of(method), arguments=arguments, only=only or None, quick=quick)
    console.out().print(report)
    return 0 if report.ok else 1


def method_of(text: str):
    """Returns the name of a registered method unchanged; for ``FILE.py:NAME`` the class, maker or algorithm in that file.

    Raises:
        ValueError: no such file, a file that does not run, or no such name in it.
    """
    file, colon, name = text.rpartition(":")
    if not colon or not file.endswith(".py"):
        return text
    from bounds.registry.python_files import module_from
    from fedtheory import Algorithm
    from fedtheory.parts import Part

    path = Path(file)
    if not path.is_file():
        raise ValueError(f"cannot read {path}: there is no such file")
    try:
        module = module_from(path, f"fedtheory_method_{path.stem}")
    except Exception as error:
        raise ValueError(f"{path} does not run: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        known = ", ".join(n for n in vars(module) if not n.startswith("_"))
        raise ValueError(f"{path} has no {name!r}; it has {known}")
    found = getattr(module, name)
    if isinstance(found, Part) or (isinstance(found, type) and issubclass(found, Part)) or (not callable(found) and (
            not isinstance(found, Algorithm))):
        raise ValueError(f"{name} of {path} must be an Algorithm, its class, or a maker of algorithms; got {found!r}")
    return found
