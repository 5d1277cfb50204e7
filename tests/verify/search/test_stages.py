"""Stages and corners can be switched off by name, and what is off leaves no trace."""

import re
from dataclasses import replace

import numpy as np
import pytest

from bounds.controls.fedavg import CONTROLS
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.judge import Judgement
from verify.instances.draw import draw_params, draw_shape
from verify.instances.shape import Shape
from verify.referee.decide import Settings
from verify.results.fingerprint import fingerprints
from verify.results.records import load_verdicts
from verify.search import search as search_module
from verify.search.archive import Archive
from verify.search.budget import BUDGETS, Budget
from verify.search.search import search
from verify.search.stage import State
from verify.search.stages import NAMES, STAGES, switched_on
from verify.search.transformations import TRANSFORMATIONS
from verify.search.transformations.transformation import Transformation

TRUE = {row.claim.id: row.claim for row in CONTROLS}
LEAST = Budget(0, 8, 0, small=2)
LITTLE = Budget(2, 8, 2, small=4, small_rows=8, local_searches=1, cma_steps=2, gradient_steps=2, before=LEAST)


def test_names_are_different_and_all_of_them_are_allowed():
    beside = {"real-numbers", "many-rounds"}  # which are looked at beside the stages
    assert {*NAMES} == {*STAGES, *beside, *(one.name for one in TRANSFORMATIONS)} and len({*NAMES}) == len(NAMES)
    assert switched_on(()) == (STAGES, TRANSFORMATIONS)
    assert switched_on(NAMES) == ({}, ())
    for name in {*NAMES} - beside:
        stages, corners = switched_on([name])
        assert len(stages) + len(corners) == len(NAMES) - 3


@pytest.mark.parametrize("reject", [lambda name: search(TRUE["control/young"], LITTLE, without=[name]),
                                    lambda name: Settings(without=(name,))])
def test_unknown_names_are_refused(reject):
    with pytest.raises(ValueError) as refused:
        reject("smal")
    assert {"smal", *NAMES} <= {*re.findall(r"[\w-]+", str(refused.value))}


@pytest.mark.parametrize("name", ["afedpd/theorem-1", "fedmoswa/lemma-g.5"])
def test_an_order_has_no_value_to_search_with(name):
    with pytest.raises(ValueError, match=rf"{name} hides the constant \w+ in O"):
        search(find_claim(name), LITTLE)


@pytest.mark.parametrize("name", ["small", "extreme", "random", "evolved", "local-search"])
def test_a_stage_is_looked_at_if_and_only_if_it_is_on(name):
    claim, others = TRUE["control/smooth-gap"], {*STAGES} - {name}
    if name == "local-search":
        others -= {"random"}
    everything, alone, none = (search(claim, LITTLE, without=off).tried for off in ((), others, STAGES))
    assert everything > alone > none == 0
    assert search(claim, LITTLE, without=[name]).tried != everything


def test_a_new_stage_is_a_function_in_the_list(monkeypatch):
    seen, shape = [], Shape()

    def batches(state):
        seen.append(state.budget)
        yield shape, draw_params(state.claim, shape, 3, state.rng)

    mine = ({"mine": batches}, ())
    monkeypatch.setattr(search_module, "switched_on", lambda without: mine)
    assert search(TRUE["control/smooth-gap"], LITTLE).tried == 6 and seen == [*LITTLE.levels]


def drawn(claim, shape, corners):
    return State(claim, LITTLE, Archive(), corners, NUMPY, [0]).draw_batch(shape, 8)


def test_without_corners_instances_stay_as_they_are_drawn():
    claim = find_claim("fadamgc/eq-190")
    shape = draw_shape(claim, np.random.default_rng(1), 64, 10)
    plain = draw_params(claim, shape, 8, np.random.default_rng([0]).spawn(1)[0])
    cornered = drawn(claim, shape, TRANSFORMATIONS)
    assert all(np.array_equal(array, plain[name]) for name, array in drawn(claim, shape, ()).items())
    assert not all(np.array_equal(cornered[name], plain[name]) for name in plain)


def test_a_corner_changes_its_share_of_the_batches_that_it_applies_to():
    seen, params, shape = [], {"a": np.zeros((1, 1))}, Shape()
    corner = Transformation("mine", lambda claim, shape: shape.clients == 1, lambda *given: seen.append(given) or {},
                            share=0.25)
    rng = np.random.default_rng(0)
    changed = sum(corner(None, shape, params, rng) == {} for _ in range(400))
    assert 60 < changed == len(seen) < 140
    assert replace(corner, share=1.0)(None, Shape(clients=2), params, rng) is params
    state = rng.bit_generator.state
    assert replace(corner, share=1.0)(None, shape, params, rng) == {} and rng.bit_generator.state == state


def test_the_command_leaves_stages_out_and_says_so(run, tmp_path):
    claim_id, off = "fedalign/lemma-A3", ["--without-stage", "units", "--without-stage", "small"]
    assert run("verify", claim_id, "--out", tmp_path, *off)[0] == 0
    (verdict,) = load_verdicts(tmp_path)
    assert " ".join(off) in verdict.command
    assert verdict.details["instances"]["tried"] < search(find_claim(claim_id), BUDGETS["quick"]).tried
    for other in ([], off[:2]):  # the same directory holds no results of other settings
        assert run("verify", claim_id, "--out", tmp_path, *other)[0] == 2
    status, _, error = run("verify", claim_id, "--out", tmp_path / "new", "--without-stage", "smal")
    assert status == 2 and not (tmp_path / "new").exists()
    assert {"smal", *NAMES} <= {*re.findall(r"[\w-]+", error)}


def test_what_is_off_is_part_of_the_fingerprint():
    claim = find_claim("fedalign/lemma-A3")
    marks = {mark for without in ({}, {"without": ["small"]}, {"without": ["units"]})
             for mark in fingerprints([claim], {"budget": "quick"} | without).values()}
    assert len(marks) == 3


def test_batches_are_small_where_a_claim_has_large_arrays():
    """An array of a thousand by a thousand numbers in 128 instances needs a gigabyte, which a worker does not have."""
    claim = find_claim("fedalign/claim-theta-decreases")
    state, counts = State(claim, BUDGETS["quick"].levels[0], Archive(), (), NUMPY, [0]), {}
    for length in (3, 1000):
        sizes = {size: length for v in claim.variables for _, size in v.indices}
        shape = Shape(clients=1, dim=1, sizes=tuple(sizes.items()))
        counts[length] = state.batch_size(shape)
        drawn = draw_params(claim, shape, 1, np.random.default_rng(0))
        assert counts[length] * max(array.size for array in drawn.values()) <= 2**24
    assert 1 <= counts[1000] < counts[3]


# from where searches go on -------------------------------------------------------------------------------------------------
def kept(archive, score, start, **sizes):
    params = {"weight": np.ones((1, 1)), "start_offset": np.full((1, 1), start)}
    archive.add(Shape(**sizes), params, Judgement(*np.full((2, 1), score), np.ones(1, dtype=bool)))


def test_instances_that_start_at_the_optimum_are_kept_beside_tighter_ones():
    """Where steps vanish the two sides of many a statement are nearly equal, and tell nothing."""
    archive = Archive()
    for score, start in [(-0.001 * number, 1.0) for number in range(1, 9)] + [(-0.2, 0.0)]:
        kept(archive, score, start)
    assert [params["start_offset"].item() for _, params in archive.tightest(2)] == [1.0, 0.0]
