"""Instances with other sizes: more or fewer clients, other run lengths, other integers of the claim."""

from dataclasses import dataclass, replace

from bounds.language.claim import DISTINCT, Claim
from verify.claims.needs import needs_equal_curvatures
from verify.instances.parameters import Parameters, repeated, take_entries
from verify.instances.shape import Shape, with_participants, with_size, with_subset, with_times

__all__ = ["RUN_SIZES", "Together", "resized", "with_client_twice", "without_client"]


def without_client(claim: Claim, shape: Shape, params: Parameters, client: int) -> tuple[Shape, Parameters] | None:
    """The instance without a client; None for the last priority client, or where fewer would be left than are sampled."""
    is_free = client >= shape.priority_clients
    if not is_free and shape.priority_clients == 1:
        return None
    if shape.sampling in DISTINCT and not is_free and shape.participants == shape.priority_clients:
        return None
    kept = [k for k in range(shape.clients) if k != client]
    return _with_clients(claim, shape, params, kept, [kept.index(k) for k in shape.noisy if k != client])


def with_client_twice(claim: Claim, shape: Shape, params: Parameters, client: int) -> tuple[Shape, Parameters]:
    """The instance with a second client like this one, without its noise."""
    kept = [k for k in range(shape.clients) for _ in range(1 + (k == client))]
    larger, new = _with_clients(claim, shape, params, kept, [kept.index(k) for k in shape.noisy])
    if needs_equal_curvatures(claim) and "curvature" in params and params["curvature"].shape[1] == 1:
        new["curvature"] = params["curvature"]  # one for all clients
    return larger, new


def _with_copies(claim: Claim, shape: Shape, params: Parameters, clients: int) -> tuple[Shape, Parameters]:
    """The instance with so many clients, which are copied in turn."""
    if shape.free:
        raise NotImplementedError("copies of clients are made without free clients only")
    kept = [k % shape.clients for k in range(clients)]
    new, params = _with_clients(claim, shape, params, kept, [place for place, k in enumerate(kept) if k in shape.noisy])
    if shape.sampling not in DISTINCT or shape.participants != shape.clients:
        return new, params
    new = replace(new, participants=clients)
    return (with_subset(new, clients) if shape.subset == shape.clients else new), params


def _with_clients(claim: Claim, shape: Shape, params: Parameters, kept: list[int], noisy: list[int],
                  ) -> tuple[Shape, Parameters]:
    """The instance with the clients numbered ``kept``, those at the places ``noisy`` with their noise."""
    new = take_entries(claim, params, "clients", kept, shape.clients)
    if "half_tangent" in params and params["half_tangent"].shape[1] == 1:
        new["half_tangent"] = params["half_tangent"]  # one for all clients
    if "noise" in new:
        slots = [shape.noisy.index(kept[place]) for place in noisy]
        new["noise"] = new["noise"][:, slots]
        if not noisy:
            del new["noise"]
    free = sum(k >= shape.priority_clients for k in kept)
    return replace(shape, clients=len(kept), free=free, noisy=tuple(noisy)), new


#: sizes of a run that every instance has
RUN_SIZES = ("rounds", "iterations", "local_steps", "clients", "participants")


@dataclass(frozen=True)
class Together:
    """Sizes ``names`` that are multiplied by a common factor; ``least`` has all sizes at the factor 1."""

    names: tuple[str, ...]
    least: tuple[tuple[str, int], ...]

    def __str__(self):
        return " and ".join(self.names)

    def sizes_at(self, factor: int) -> tuple[tuple[str, int], ...]:
        """All sizes at a factor."""
        return tuple((name, size * factor if name in self.names else size) for name, size in self.least)


def resized(claim: Claim, shape: Shape, params: Parameters, name: str | Together, size: int) -> tuple[Shape, Parameters]:
    """The instances with another size called ``name``: the last step is repeated, clients are copied in turn. Raises
    NotImplementedError for a name that is no size of the instance, ValueError for a size that it cannot have."""
    if isinstance(name, Together):
        for each, least in name.sizes_at(size):
            shape, params = resized(claim, shape, params, each, least)
        return shape, params
    if name in ("rounds", "iterations"):
        rounds, rest = (size, 0) if name == "rounds" else divmod(size, shape.local_steps)
        if rest:
            raise ValueError(f"{size} iterations are no whole number of rounds of {shape.local_steps} local steps")
        return with_times(claim, shape, params, shape.local_steps, rounds)
    if name == "local_steps":
        return with_times(claim, with_size(shape, name, size), params, size, shape.rounds)
    if shape.family.coupled and name in ("clients", "participants"):
        raise NotImplementedError(f"clients with samples are not copied, so that {name} stays")
    if name == "participants":
        if shape.sampling in DISTINCT and size > shape.priority_clients:
            raise ValueError(f"at most {shape.priority_clients} participants; got {size}")
        return with_participants(shape, size), params
    if name == "clients":
        return _with_copies(claim, shape, params, size)
    if name in dict(shape.sizes):
        return with_size(shape, name, size), repeated(claim, params, {name: size})
    raise NotImplementedError(f"{name} is no size of an instance")
