"""What makes loading the claims fast changes no claim and leaves no trace."""

import gc

import pytest

from bounds.language import operators
from bounds.registry.loading import without_collection


@pytest.mark.parametrize("collected", [True, False])
@pytest.mark.parametrize("fails", [True, False])
def test_collection_of_garbage_goes_on_as_before(collected, fails):
    before = gc.isenabled()
    (gc.enable if collected else gc.disable)()
    try:
        with pytest.raises(KeyError) if fails else without_collection(), without_collection():
            assert not gc.isenabled()
            if fails:
                raise KeyError
        assert gc.isenabled() == collected
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize("frozen", [True, False])
def test_what_a_caller_has_frozen_stays_frozen_and_nothing_else(frozen):
    already = gc.get_freeze_count()
    if frozen:
        gc.freeze()
    try:
        with without_collection():
            pass
        assert (gc.get_freeze_count() > already) == frozen
    finally:
        if frozen:
            gc.unfreeze()


@pytest.mark.parametrize("word, arguments, allowed", [
    (operators.norm2, (), "1"), (operators.E, (operators.t, operators.k, operators.r), "1 or 2"),
    (operators.dot, (operators.t,), "2"),
])
def test_a_word_with_a_wrong_number_of_arguments_says_what_is_allowed(word, arguments, allowed):
    with pytest.raises(TypeError, match=rf"{word.__name__} takes {allowed} argument\(s\), got {len(arguments)}"):
        word(*arguments)
