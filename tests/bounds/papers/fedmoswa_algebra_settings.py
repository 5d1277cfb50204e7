"""What the statements about numbers and about points suppose, written from the paper."""

from tests.bounds.papers.fedmoswa_hypotheses import each_client, each_term, from_step_1
from tests.bounds.rows import Row, but

__all__ = ["NUMBERS", "POINTS"]


def all_of(names, row):
    return dict.fromkeys(names.split(), row)


# any points ----------------------------------------------------------------------------------------------------------
TWO = "p1; p2; "
POINT = Row(method="point", over=(each_client,))
#: on one sample, on two: the clients' losses stand for the samples'
ONE_LOSS = but(POINT, variables=f"{TWO}eta")
TWO_LOSSES = but(ONE_LOSS, over=(each_client, each_client))
#: "with eta_k^t <= 1/(beta K T)", so at most 1/beta
CONTRACTS, GROWS = "assumption-1 assumption-4 step-1/beta", "assumption-4"
STRONG = "f-smooth f-strongly-convex"
G_1_2 = "assumption-g1 assumption-g2"


def steered(row):
    return but(row, variables=f"{row.variables}; v1; v2")


def sharp(row):
    return but(row, variables=f"{row.variables}; rho_sam")


POINTS = {
    "lemma-d.1-smooth": but(ONE_LOSS, given="f-smooth", variables=f"{TWO}eta: nonnegative"),
    "lemma-d.1-strongly-convex": but(ONE_LOSS, given=f"{STRONG} step-D.1"),
    "eq-11": but(POINT, given=STRONG, variables="p1; p2", sign=">="),
    "eq-12": but(ONE_LOSS, given=STRONG, variables=f"{TWO}eta: nonnegative"),
    "eq-13@first": but(ONE_LOSS, given=f"{STRONG} step-D.1"),
    "eq-17": but(ONE_LOSS, given=CONTRACTS), "eq-18": but(TWO_LOSSES, given=CONTRACTS),
    **all_of("eq-26 eq-106@plain-step", but(ONE_LOSS, given=GROWS)),
    **all_of("eq-27 eq-107@plain-step", but(TWO_LOSSES, given=GROWS)),
    "eq-38@shared": steered(but(ONE_LOSS, given=CONTRACTS)), "eq-39@shared": steered(but(TWO_LOSSES, given=CONTRACTS)),
    "eq-49@shared": steered(but(ONE_LOSS, given=GROWS)), "eq-50@shared": steered(but(TWO_LOSSES, given=GROWS)),
    "eq-106": sharp(but(ONE_LOSS, given=GROWS)), "eq-107": sharp(but(TWO_LOSSES, given=GROWS)),
    "smooth-gap": but(POINT, over=(), given=G_1_2, variables="p1"),
    "eq-71": but(ONE_LOSS, given=f"{G_1_2} step-1/beta"),
    "eq-72": but(POINT, over=(), given=G_1_2, variables="p1; v2; variates"),
    "perturbed-strong-convexity": but(POINT, given=G_1_2, variables="p1; p2; p3", sign=">="),
    "eq-96": but(POINT, over=(), given="assumption-g2", variables="p1; shift"),
}

# numbers -------------------------------------------------------------------------------------------------------------
ALGEBRA = Row(method="algebra")
#: rates eta_k^t <= 1/(beta K T) of a round, the length sum_k eta_k^t <= 1/(beta T) of every round
RATES = but(ALGEBRA, given="rates", variables="L; local_steps; rounds; excess: nonnegative [local_steps]")
CONVEX_RATES = but(RATES, given="mu-to-beta rates", variables=f"{RATES.variables}; mu")
CONSTANT = but(ALGEBRA, given="small-step constant-rates", variables="L; local_steps; rounds; eta")
CONVEX_CONSTANT = but(CONSTANT, given=f"{CONSTANT.given} mu-to-beta b-F1", variables=f"{CONSTANT.variables}; mu")
LENGTHS = but(ALGEBRA, given="lengths", variables="L; rounds; excess: nonnegative [rounds]")
UP_TO_K = (from_step_1,)


SIZES = "L; rounds; clients; samples; "
#: (32), (112): "with E |grad F(theta_t)|" at most the largest; (32) besides with L
END_OF_GROWTH = but(ALGEBRA, given="lengths largest-Phi",
                    variables=f"{SIZES}excess: nonnegative [rounds]; Phi: nonnegative [rounds]")
AT_MOST_L = but(ALGEBRA, given="gradient-to-L", variables=f"{SIZES}c_tilde; largest_gradient; G_lip; sigma_g; sigma")
A_RANGE = "a-from-1/2 a-to-1"
OF_GAMMA = but(ALGEBRA, given="gamma-to-1 b-89", variables="gamma")
OF_SHARE = but(ALGEBRA, given="s-to-m b-93", variables="clients; participants")
#: "there exists a constant step-size eta <= eta_max"; O(.) with a tilde hides every logarithm, of R, mu, d_0 and c
G_5 = but(ALGEBRA, given="G.5-largest G.5-rounds", variables=(
    "length: integer from 3; d; mu; largest_step; drop; C: hidden-log"),
    limits="length -> oo, d -> oo, mu -> 0, drop -> 0", constants_may_use="",
    exists=("step", lambda w: 0, lambda w: w.value("largest_step"), "(]"))
G_5_STEP = but(G_5, given=f"{G_5.given} G.5-step", exists=None)
G_5_EXPLICIT = but(ALGEBRA, given="step-1/mu G.5-rounds-eta", variables="length: integer from 3; d; mu; step; drop")
G_6 = but(ALGEBRA, variables="length: integer from 2; d; largest_step: nonnegative; first; second", exists=G_5.exists)
G_8 = but(ALGEBRA, given="G.8", variables="outcomes; terms; chance; outcome")
G_8_RUN = Row(given="assumption-g3", over=(each_client,), method="fedavg equal_weights replaced=random")
OF_77 = but(ALGEBRA, given="step-81", variables="L; eta_eff; local_steps; eta_g; gap; lag; server_gap; sigma_sq")
OF_102 = but(ALGEBRA, given="s-to-m step-2/3", variables="clients; participants; L; eta_eff")
OF_K = but(ALGEBRA, variables="local_steps: integer from 2")
FROM_4 = but(OF_K, variables="local_steps: integer from 4")
LARGE = but(ALGEBRA, sign=">")
NUMBERS = {
    # "c-bar > c~ >> 1", at eta = 1/(beta K T); "b~ sigma_g >> sigma_g", "c~ sigma_g >> sigma_g", "b~ >> 1"
    "table-1-constants": but(LARGE, given="step-at-bound c-SAM c-bar", variables="L; local_steps; rounds"),
    "table-1-constants@far-above-one": but(LARGE, variables="local_steps; rounds"),
    "claim-constants-large": but(LARGE, given="mu-to-beta", variables="L; local_steps; rounds; mu"),
    "claim-constants-large@b-tilde-sigma-g": but(
        LARGE, given="mu-to-beta sigma_g-above-0", variables="L; local_steps; rounds; mu; sigma_g: positive"),
    "claim-constants-large@c-tilde-sigma-g": but(
        LARGE, given="sigma_g-above-0", variables="local_steps; rounds; sigma_g: positive"),
    "app-i-constants": but(ALGEBRA, given="rates-to-eta", variables="local_steps; L; eta; c; rates"),
    "lemma-g.5": G_5, "lemma-g.5@proof-step": G_5_STEP,
    "lemma-g.5@proof-step+no-logarithms": but(G_5_STEP, variables=G_5_STEP.variables.replace("hidden-log", "hidden")),
    "lemma-g.5-explicit": G_5_EXPLICIT, "lemma-g.5-explicit@telescoped": but(G_5_EXPLICIT, given="step-1/mu"),
    "lemma-g.5-explicit@weights": but(G_5_EXPLICIT, sign=">="),
    "lemma-g.5-explicit@telescoping": but(G_5_EXPLICIT, given="step-1/mu", sign="=="),
    **all_of("lemma-g.5-explicit@geometric lemma-g.5-explicit@geometric-next", but(G_5_EXPLICIT, sign="==")),
    "lemma-g.5-cases": but(G_5, given=f"{G_5.given} G.5-case-1", exists=None),
    **all_of("lemma-g.5-cases@second lemma-g.5-cases@second-last", but(
        G_5, given=f"{G_5.given} G.5-case-2", exists=None)),
    "lemma-g.6": G_6, "lemma-g.6@positive-start": but(G_6, given="G.6-start"),
    "lemma-g.6@proof-step": but(G_6, given="G.6-step", exists=None),
    "lemma-g.6@positive-start+proof-step": but(G_6, given="G.6-step G.6-start", exists=None),
    "lemma-g.6-explicit": but(ALGEBRA, variables="length: integer from 2; d; step; first; second"),
    **all_of("eq-61 eq-61@second", but(G_6, given="G.6-case-1", exists=None)),
    "lemma-g.6-case-2": but(G_6, given="G.6-case-2", exists=None, sign="=="),
    "lemma-g.6-case-2@at-most": but(G_6, given="G.6-case-2", exists=None),
    "lemma-g.7": but(ALGEBRA, variables="p1; p2; factor"),
    **all_of("lemma-g.7@identity lemma-g.7@identity-minus", but(ALGEBRA, variables="p1; p2; factor", sign="==")),
    **all_of("lemma-g.7@part-2 lemma-g.7@jensen", but(ALGEBRA, variables="terms; vectors")),
    "lemma-g.8-mean": G_8, "lemma-g.8-mean@identity": but(G_8, given="", sign="=="),
    "lemma-g.8-mean@printed-variance": but(G_8, given="", sign="==", over=(each_term,)),
    "lemma-g.8-martingale": G_8_RUN, "lemma-g.8-martingale@orthogonal": but(G_8_RUN, sign="=="),
    "eq-13": but(ALGEBRA, given="mu-to-beta step-D.1", variables="L; mu; eta"),
    "eq-15-collect": but(CONVEX_RATES, over=UP_TO_K, given=f"{CONVEX_RATES.given} last-rate b-last",
                         variables=f"{CONVEX_RATES.variables}; last_excess: nonnegative"),
    "eq-15-collect@b-F1": but(CONVEX_CONSTANT, over=UP_TO_K),
    "eq-35": but(CONVEX_CONSTANT, variables=f"{CONVEX_CONSTANT.variables}; G_lip; sigma"),
    "eq-24": but(RATES, over=UP_TO_K, given="rates c-rates"),
    "eq-104": but(CONSTANT, over=UP_TO_K, given=f"{CONSTANT.given} c-SAM"),
    **all_of("eq-20-exp", CONVEX_RATES), **all_of("eq-29 eq-29@sum", RATES),
    "eq-22-sum": but(LENGTHS, given="mu-to-beta lengths", variables=f"{LENGTHS.variables}; mu"),
    "eq-32": but(END_OF_GROWTH, variables=f"{END_OF_GROWTH.variables}; c_tilde"), "eq-32@second-inequality": AT_MOST_L,
    "eq-112": but(END_OF_GROWTH, variables=f"{END_OF_GROWTH.variables}; c_bar"),
    # "K = 2, 3 manually. For K >= 4"
    "eq-76": OF_K, **all_of("eq-76@first eq-76@third", but(FROM_4, sign="<")), "eq-76@second": FROM_4,
    "g13-step-size": but(ALGEBRA, given="step-81", variables="L; eta_eff"),
    "g13-step-size@lag": but(ALGEBRA, given="s-to-m step-15", variables="mu; clients; participants; eta_eff"),
    "g13-step-size@printed": ALGEBRA,  # "eta~ <= 1/(81 beta) implies 44 beta^2 eta~^2 <= 24/25 beta~", without a beta~
    **all_of("eq-77@second eq-77@second-printed", OF_77),
    "eq-88": but(ALGEBRA, variables="outcomes; chance; change: vector [outcomes]; p1; factor"),
    "eq-88@first-line": but(ALGEBRA, variables="outcomes; chance; change: vector [outcomes]; p1", sign="=="),
    "eq-89-b": OF_GAMMA, "eq-89-b@inverse": OF_GAMMA,
    "eq-89-b@step-size": but(
        ALGEBRA, given=f"gamma-to-1 {A_RANGE} step-gamma", variables="gamma; L; eta_eff; power"),
    "eq-89-b@power": but(ALGEBRA, given=f"gamma-to-1 {A_RANGE}", variables="gamma; power"),
    "eq-93-b": OF_SHARE, "eq-93-b@inverse": OF_SHARE,
    "eq-93-b@step-size": but(
        ALGEBRA, given=f"s-to-m {A_RANGE} step-share", variables="clients; participants; L; eta_eff; power"),
    "eq-93-b@power": but(ALGEBRA, given=f"s-to-m {A_RANGE}", variables="clients; participants; power"),
    "eq-95-geometric": but(ALGEBRA, over=UP_TO_K, given="step-24 alpha-from-1",
                           variables="local_steps: integer from 2; L; eta_eff; eta_g"),
    **all_of("eq-102@step-size eq-102@drift", OF_102), "eq-102@gradient": but(OF_102, sign=">="),
}
