"""Adam's moments under heterogeneity: each client's second moments scale its own loss, so that local Adam averages steps
of different units."""

import marimo

app = marimo.App(width="medium", app_title="Adam's moments under heterogeneity")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import adaptive_drift as demo

    mo.md("# Adam's moments under heterogeneity")
    return demo, live, mo


@app.cell
def _(controls, demo, live):
    found = demo.compute(**controls.value)
    live.picture(demo.picture(found), demo.caption(found))
    return (found,)


@app.cell
def _(demo, live):
    controls = live.controls(demo.CONTROLS)
    controls.vstack()
    return (controls,)


@app.cell
def _(mo):
    mo.md(r"""
    Three clients run Adam. Their second moments see different gradients (right), so that the same gradient is worth a
    longer step at one client than at another: the average stops where scaled steps cancel, even for $K = 1$. For small
    $\epsilon$ a step is little more than the sign of its gradient, and the average stops where signs cancel, as a median
    does. FAdamGC corrects the gradient before it enters the moments, so that all clients have the same moments at the
    optimum. FA-NT corrects the direction after the moments; the corrections cancel in the average.

    ### Questions

    1. Set $K = 1$. FedAvg has no drift then. Why has local Adam?
    2. With two clients of equal weight local Adam would stop at the minimiser for $K = 1$. Why, and why not with three?
    3. Where must a correction enter so that the minimiser of the mean is a fixed point? Prove it for $K = 1$.
    """)
    return


if __name__ == "__main__":
    app.run()
