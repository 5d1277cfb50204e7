"""Both sides of FedSWA's and FedMoSWA's claims from the paper, and what its specification lists."""

from tests.bounds.papers import fedmoswa_world
from tests.bounds.papers.fedmoswa_hypotheses import DOMAINS, SUPPOSED
from tests.bounds.papers.fedmoswa_line_rows import LINES
from tests.bounds.papers.fedmoswa_round_rows import CONVEX, MEANINGS, NONCONVEX
from tests.bounds.papers.fedmoswa_settings import METHOD, setting
from tests.bounds.papers.fedmoswa_step_rows import ALGORITHM_1, MOSWA, POINTS, SWA, VALUES
from tests.bounds.papers.fedmoswa_theorem_rows import LEMMAS, MAIN, ROUNDS, TOOLS, P

__all__ = [
    "BLOCKS", "DOMAINS", "MEANINGS", "METHOD", "READINGS", "ROWS", "SUPPOSED", "TIMES", "row", "sides", "values", "world"]

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    eq-3 eq-4 eq-5 eq-6 eq-7 algorithm-1-server
    lemma-4.1-stability theorem-5.1-strongly-convex-fedswa theorem-5.1-strongly-convex-fedmoswa
    theorem-5.1-nonconvex-fedswa theorem-5.1-nonconvex-fedmoswa theorem-5.2-strongly-convex theorem-5.2-nonconvex
    explicit-5.2-strongly-convex explicit-5.2-nonconvex explicit-5.2-nonconvex-tuned
    table-1-gen-fedsam table-1-gen-mofedsam table-1-gen-fedswa table-1-gen-fedmoswa table-1-opt-fedsam
    table-1-opt-mofedsam table-1-opt-fedswa table-1-opt-fedmoswa text-opt-scaffold table-1-constants
    lemma-d.1-smooth lemma-d.1-strongly-convex lemma-e.1 lemma-e.2 theorem-e.3 lemma-e.4 lemma-e.5 theorem-e.6
    lemma-f.1 lemma-f.2 theorem-f.3-gap theorem-f.3-gen lemma-f.4 lemma-f.5 theorem-f.6
    lemma-g.5 lemma-g.5-explicit lemma-g.5-cases lemma-g.6 lemma-g.6-explicit eq-61 lemma-g.6-case-2
    lemma-g.7 lemma-g.8-mean lemma-g.8-martingale lemma-g.9 lemma-g.10 lemma-g.11
    lemma-g.12 lemma-g.13 lemma-g.14-mean lemma-g.14-second lemma-g.15 lemma-g.16 lemma-g.17 lemma-g.18
    theorem-h.1-constant theorem-h.1-decay lemma-i.1 lemma-i.2 theorem-i.3 app-i-constants
    eq-11 eq-12 eq-13 eq-14 eq-15-unroll eq-15-collect eq-16 eq-17 eq-18 eq-19 eq-20-unroll eq-20-exp eq-21 eq-22-unroll
    eq-22-sum eq-23 eq-24 eq-25 eq-26 eq-27 eq-28 eq-29 eq-30 eq-31 eq-32 stability-to-gen
    eq-33 eq-34 eq-35 eq-36 eq-37 eq-38 eq-39 eq-40 eq-41 eq-42 eq-53 eq-43 eq-45 eq-47 eq-49 eq-50 eq-51 eq-52 eq-54
    g9-variances eq-65 smooth-gap eq-66 eq-68 eq-69 eq-70 eq-71 eq-72 eq-73 eq-74 eq-75 eq-76 eq-77 g12-k1 mean-update
    perturbed-strong-convexity eq-80 eq-81 eq-82 eq-83 eq-85 g13-step-size
    mean-of-m g14-variances eq-86 eq-88 eq-91 eq-89 eq-89-b eq-93 eq-93-b eq-94 eq-95 eq-95-geometric eq-96 eq-98 eq-99
    eq-100 eq-101 eq-102 points-at-the-start
    eq-103 eq-104 eq-105 eq-106 eq-107 eq-108 eq-109 eq-110 eq-111 eq-112
    claim-constants-large"""

ALGORITHMS = "option-II fresh independent-batch bounded-start"
GEN = "stability parameters fixed-client region"
BEGINS = "all-clients start-gradient-clients start-mean start-free everyone some-clients as-proved"
START, FROM_ZERO = f"{BEGINS} start-gradient", f"{BEGINS} start-zero"
I_1 = "assumptions-2-to-5 plain-step+assumptions-2-to-5"
ONE_ROUND, OF_POINTS = f"{START} any-state", f"{FROM_ZERO} any-state"
BOTH_LAGS = "lag-round lag-given lag-noise"
#: readings that the specification lists for a block, by the name of what differs from its first ones
READINGS = {
    **dict.fromkeys(("theorem-5.1-strongly-convex-fedswa", "theorem-5.1-nonconvex-fedswa"), f"{GEN} any-server-step"),
    **dict.fromkeys(
        ("theorem-5.1-strongly-convex-fedmoswa", "theorem-5.1-nonconvex-fedmoswa"), f"{GEN} any-server-step fresh"),
    "theorem-5.2-strongly-convex": f"every-step {START}", "theorem-5.2-nonconvex": f"table-1 every-step {START}",
    "explicit-5.2-strongly-convex": f"{START} lag-given lag-noise", "explicit-5.2-nonconvex": FROM_ZERO,
    "explicit-5.2-nonconvex-tuned": FROM_ZERO,
    **dict.fromkeys(("table-1-opt-fedsam", "table-1-opt-mofedsam"), "of-FedSAM radius-0 small-steps any-step"),
    "table-1-opt-fedswa": "mean-square small-steps any-step", "text-opt-scaffold": "small-steps any-step",
    "table-1-opt-fedmoswa": "every-step any-step",
    "claim-constants-large": "b-tilde-sigma-g c-tilde-sigma-g",
    "lemma-e.1": "b-F1 region", "lemma-e.2": "b-F1 b-tilde-main b-tilde-E1 b-tilde-F1 region", "lemma-e.4": "region",
    "theorem-e.3": f"{GEN} gradient-L b-F1 b-tilde-main b-tilde-E1 b-tilde-F1",
    "theorem-e.6": f"{GEN} gradient-L c-tilde-main",
    "lemma-f.1": "algorithm-1 independent-batch bounded-start region",
    "lemma-f.2": "as-used algorithm-1 independent-batch bounded-start region",
    "theorem-f.3-gap": f"fixed-client b-tilde-main b-tilde-E1 b-tilde-F1 {ALGORITHMS} region",
    "theorem-f.3-gen": f"{GEN} b-tilde-main b-tilde-E1 b-tilde-F1 {ALGORITHMS}",
    "lemma-f.4": "without-C1 algorithm-1 independent-batch bounded-start region",
    "lemma-f.5": "algorithm-1 independent-batch bounded-start region",
    "theorem-f.6": f"{GEN} c-tilde-main c-tilde-with-L c-tilde-proof {ALGORITHMS}",
    "lemma-g.5": "proof-step proof-step+no-logarithms", "lemma-g.6": "proof-step positive-start positive-start+proof-step",
    "lemma-g.5-explicit": "exponential telescoping telescoped geometric geometric-next weights two-thirds",
    "lemma-g.5-cases": "second second-last", "eq-61": "second", "lemma-g.6-case-2": "at-most",
    "lemma-g.7": "identity identity-minus part-2 jensen",
    "lemma-g.8-mean": "printed-variance identity deviation",
    "lemma-g.8-martingale": "printed triangle orthogonal deviation",
    **dict.fromkeys(("lemma-g.9", "lemma-g.12"), f"{ONE_ROUND} E0 lag-given lag-noise F-smooth mu-0"),
    "lemma-g.10": f"{ONE_ROUND} E0 {BOTH_LAGS} F-smooth mu-0", "lemma-g.11": f"{ONE_ROUND} E0 F-smooth mu-0",
    "lemma-g.13": f"{ONE_ROUND} {BOTH_LAGS} F-smooth mu-0",
    **dict.fromkeys((f"lemma-g.{n}" for n in ("14-mean", "14-second", "17")), f"{OF_POINTS} E0 F-smooth"),
    **dict.fromkeys(("lemma-g.15", "lemma-g.16"), f"printed {OF_POINTS} E0 F-smooth"),
    "lemma-g.18": f"{OF_POINTS} F-smooth as-proved+large-server-step", "theorem-h.1-constant": "E0 lag-given lag-noise mu-0",
    "theorem-h.1-decay": "printed-rates E0 lag-given lag-noise mu-0",
    **dict.fromkeys(("smooth-gap", "eq-71", "eq-72", "perturbed-strong-convexity"), "mu-0"),
    "lemma-i.1": "proof plain-step region", "lemma-i.2": f"plain-step region {I_1}",
    "theorem-i.3": f"{GEN} gradient-L printed-c plain-step {I_1}",
    "eq-3": "first last", "eq-6": "option-I", "eq-13": "first",
    "eq-15-unroll": "b-F1 region", "eq-15-collect": "b-F1", "eq-18": "as-27", "eq-20-unroll": "printed-index whole region",
    "eq-20-exp": "sum",
    "eq-21": "fixed-client region",
    "eq-22-unroll": "as-43 fixed-client region", "eq-22-sum": "as-43", "eq-24": "unrolled",
    "eq-28": "second-line last-line", "eq-29": "sum products gap", "eq-30": "printed", "eq-32": "second-inequality",
    "eq-33": "sum sum+theta-l last", "eq-34": "line-2 second second+theta-l third whole independent-batch bounded-start",
    "eq-35": "first-line first-line+second-line first-line+third-line",
    "eq-36": "theta-l last 48 48+last", **dict.fromkeys(("eq-38", "eq-39", "eq-49", "eq-50"), "shared"),
    "eq-45": "first-line third-line whole", "eq-51": "first second third-line last-line independent-batch bounded-start",
    "eq-68": "printed", "eq-70": "second as-in-5 second+as-in-5 as-proved", "eq-75": "first second third unrolled as-proved",
    "eq-76": "first second third", "eq-77": "second printed as-proved", "g12-k1": "E0",
    "mean-update": "change as-proved",
    "eq-83": "lemma-g.10 as-proved", "g13-step-size": "printed lag",
    "mean-of-m": "lag-points mean", "eq-88": "first-line",
    "eq-89": "identity printed-identity second second-printed-lag second-printed-factor second-printed start-zero as-proved",
    "eq-89-b": "inverse step-size power", "eq-93-b": "inverse step-size power",
    "eq-93": "identity second start-zero as-proved",
    "eq-100": "printed-exponent printed-lag start-zero as-proved", "eq-101": "printed start-zero as-proved",
    "eq-102": "step-size gradient drift lost-term as-added start-zero as-proved", "eq-65": "63 64 64-last total as-proved",
    "eq-66": "variates expected-variates lag-round 67 67-third 67-last as-proved",
    "eq-69": "second last as-proved", "eq-81": "second third as-proved",
    "eq-85": "lost-term as-added lag-round as-proved",
    "eq-86": "large-server-step second third fourth last total start-zero as-proved",
    "eq-94": "first second third fourth start-zero as-proved", "eq-95": "first second last start-zero as-proved",
    "eq-98": "first second third third-printed fourth fifth start-zero as-proved", "eq-99": "start-zero as-proved",
    **{f"eq-{n}": f"{own} region independent-batch bounded-start independent-batch+region" for n, own in (
        (40, "first second first+region"), (41, "products products+region"), (42, "first printed first+region"),
        (43, "first first+region"))},
    "eq-52": "products products-printed independent-batch bounded-start", "eq-53": "first independent-batch bounded-start",
    "eq-54": "first second fourth independent-batch bounded-start",
    **dict.fromkeys((f"eq-{n}" for n in (73, 74)), "as-proved"), "eq-80": "first lag-given lag-noise as-proved",
    "eq-82": "lag-given lag-noise as-proved",
    "g9-variances": "given-round variates variates-total drawn-variates as-proved",
    **dict.fromkeys(("eq-103", "eq-105", "eq-106", "eq-107", "eq-111"), "plain-step"),
    "eq-104": "unrolled unrolled+second unrolled+third unrolled+second+plain-step",
    "eq-108": "plain-step plain-step+first second-line last-line last-line+c-bar", "eq-109": "products c-bar plain-step",
    "eq-110": "first c-bar plain-step",
}

#: times at which definitions are compared
TIMES = range(4)
ROWS = {
    claim_id: row
    for table in (ALGORITHM_1, MAIN, LEMMAS, TOOLS, ROUNDS, POINTS, VALUES, SWA, MOSWA, CONVEX, NONCONVEX, LINES)
    for ids, row in table.items() for claim_id in ids.split()
}
#: readings that change how names in the formula are read, or only the hypotheses
READ_AS = {
    **{name: {"aliases": {"drift_E1": ("drift_E0", 1, 0)}} for name in ("E0", "as-proved")},
    "lag-noise": {"aliases": {"variate_lag": ("variate_lag_noise", 1, 0), "variate_lag_total": ("variate_lag_noise", 1, 0)}},
    "lag-given": {"aliases": {"variate_lag_total": ("variate_lag", 1, 0)}},
    "mu-0": {"fixed": {"mu": 0}}, "c-bar": {"aliases": {"c": ("c_bar", 0, 0)}},
    "region": {"aliases": {"sigma_g_client": ("sigma_g", 0, 0)}},
    "fixed-client": {"one_client": True},
    **{name: {} for name in (
        "all-clients", "start-zero", "start-gradient", "start-gradient-clients", "start-mean", "start-free", "everyone",
        "some-clients", "small-steps", "every-step", "any-step", "radius-0", "option-II", "F-smooth", "large-server-step",
        "printed-rates", "plain-step", "b-F1", "independent-batch", "bounded-start", "without-C1", "algorithm-1",
        "any-server-step", "fresh", "assumptions-2-to-5")},
}
#: what a reading is compared with besides its own change
BASES = {f"theorem-{name}@fixed-client": f"theorem-{name}@parameters" for name in (
    "5.1-strongly-convex-fedswa", "5.1-strongly-convex-fedmoswa", "5.1-nonconvex-fedswa", "5.1-nonconvex-fedmoswa", "e.3",
    "e.6", "f.3-gen", "f.6", "i.3")}
AVERAGES = {
    name: MEANINGS[name] for name in ("drift_E1", "drift_E0", "variate_lag", "variate_lag_total", "variate_lag_after",
                                      "server_lag", "point_lag", "moving_lag")
}


def _transcribed(claim_id, world, index):
    """The row of a claim, by its id without the paper, and the world in which the row is read."""
    if claim_id in ROWS:
        return ROWS[claim_id], world
    base, _, name = claim_id.replace("@", "+").rpartition("+")
    parent = BASES.get(claim_id) or (claim_id[: -len(name) - 1])
    assert base.split("+")[0] == claim_id.split("@")[0]
    row, world = _transcribed(parent, world, index)
    if name == "any-state":
        return row, world.read(given_round=index["r"], meanings=AVERAGES)
    changes = READ_AS[name]
    return row, world.read(**changes | {"aliases": world.aliases | changes.get("aliases", {})})


def world(seed, reading=frozenset()):
    """Random values for every name."""
    return fedmoswa_world.World(seed)


def values(w, definitions):
    """Values in a world; what definitions define has a value of its own there."""
    return fedmoswa_world.values(w)


def sides(claim, w, at):
    """Both sides from the paper, in the claim's reading."""
    (left, right), read = _transcribed(claim.id.partition("/")[2], w, at)
    return left(P(read, at)), right(P(read, at))


def row(claim):
    """The row of a claim but for its sides."""
    return setting(claim.id.partition("/")[2])
