"""The table of parameters: whatever a draw makes is in it, with the axes and in the domain that it says."""

import numpy as np
import pytest

from bounds.registry.claims import all_claims, find_claim
from bounds.registry.user_claims import load_claims
from verify.instances import parameters as table
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import admissible
from verify.instances.parameters import PARAMETERS, ParameterSpec, repeated, spec_of, take_entries
from verify.instances.resize import with_client_twice, without_client
from verify.instances.shape import Shape, with_times

MEASURED = [claim for claim in all_claims().values() if claim.statement is not None and claim.explicit]
CHOSEN = [claim.id for claim in MEASURED[::24]] + ["fedluar/lemma-A.2-smooth@forced"]


def unlike_the_table(claim, seed) -> list[str]:
    """Names of drawn parameters whose axes, or whose values, are not what the table says."""
    rng = np.random.default_rng(seed)
    shape = draw_shape(claim, rng, 64, 20)
    family = {name: getattr(shape.family, name, 0) for name in ("atoms", "pieces")}
    sizes = shape.as_sizes() | family | {"1": 1, "rounds + 1": shape.rounds + 1, "noisy": len(shape.noisy)}
    params, found = draw_params(claim, shape, 3, rng), []
    for name, array in params.items():
        lengths = [sizes[axis] for axis in spec_of(claim, name).axes]
        if len(lengths) != array.ndim - 1 or any(n not in (1, m) for n, m in zip(array.shape[1:], lengths, strict=True)):
            found.append(name)
    return found if admissible(claim, shape, params) else [*found, "a value"]


@pytest.mark.parametrize("claim_id", CHOSEN)
def test_every_parameter_that_a_draw_makes_is_in_the_table(claim_id):
    assert [unlike_the_table(find_claim(claim_id), seed) for seed in range(4)] == [[]] * 4


@pytest.mark.parametrize("fault", [
    {}, {"center": ParameterSpec("vector", ("dim",))}, {"center": ParameterSpec("positive", ("clients", "dim"))}])
def test_a_row_that_is_missing_or_wrong_is_noticed(monkeypatch, fault):
    monkeypatch.setattr(table, "PARAMETERS", {name: leaf for name, leaf in PARAMETERS.items() if name != "center"} | fault)
    claim = find_claim("fedmoswa/lemma-g.9")
    if fault:
        assert any(unlike_the_table(claim, seed) for seed in range(4))
    else:
        with pytest.raises(KeyError):
            unlike_the_table(claim, 0)


def test_entries_are_taken_along_an_axis_but_for_those_that_all_share():
    claim = find_claim("fedmoswa/lemma-g.9")
    params = {"curvature": np.arange(2.0).reshape(1, 1, 2), "available": np.arange(12.0).reshape(1, 4, 3)}
    found = take_entries(claim, params, "clients", [2, 0], 3)
    assert found["curvature"] is params["curvature"] and (found["available"] == params["available"][:, :, [2, 0]]).all()
    longer = repeated(claim, params, {"rounds": 5, "dim": 1})
    assert longer["curvature"].shape == (1, 1, 1) and (longer["available"][:, 4:] == params["available"][:, 3:]).all()


def test_arrays_of_a_claim_follow_the_lengths_of_runs(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/arrays"\nstatement = "a[rounds] + b[0] + c[0] >= 0"\n'
                    'variables = {a = "real[rounds+1]", b = "real[local_steps]", c = "real[iterations + 2]"}\n')
    (claim,), shape = load_claims(path), Shape(clients=2, rounds=2, local_steps=1)
    params = draw_params(claim, shape, 3, np.random.default_rng(0))
    for steps, rounds in ((1, 2), (3, 4), (2, 1)):
        _, found = with_times(claim, shape, params, steps, rounds)
        assert [found[name].shape for name in "abc"] == [(3, rounds + 1), (3, steps), (3, steps * rounds + 2)]


def test_a_client_that_is_copied_and_taken_away_leaves_the_instance_as_it_was():
    claim, rng = find_claim("fedalign/theorem-1"), np.random.default_rng(0)
    shape = Shape(clients=4, free=2, dim=2, rounds=2, noisy=(1, 3))
    params = draw_params(claim, shape, 2, rng)
    for client in range(4):
        larger, copies = with_client_twice(claim, shape, params, client)
        assert (larger.clients, larger.free) == (5, 2 + (client > 1)) and len(larger.noisy) == 2
        same, back = without_client(claim, larger, copies, client + 1)
        assert same == shape and all((back[name] == array).all() for name, array in params.items())
    longer, more = with_times(claim, shape, params, 3, 4)
    assert (longer.iterations, more["step_fraction"].shape, more["epsilon"].shape) == (12, (2, 12), (2, 5))
