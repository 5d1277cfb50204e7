"""Expectations over one source of chance."""

from __future__ import annotations

from bounds.language.words import FurtherOperator

__all__ = ["E_noise"]


class E_noise(FurtherOperator):
    """``E_noise(a)``: expectation over gradient noise alone, the sampling of clients given."""

    nargs = 1
    unit_powers = ((0, 1),)
    latex_form, text_form = r"\mathbb{E}_{\zeta}\left[<0>\right]", "𝔼_ζ[<0>]"
