"""Sampling adds variance: clients that differ make every sampled mean another one, and at the minimiser this is all the
noise there is."""

import marimo

app = marimo.App(width="medium", app_title="Why sampling adds variance")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import sampling_variance as demo

    mo.md("# Why sampling adds variance")
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
    Twelve clients have quadratic losses with exact gradients and one local step. With all of them FedAvg is gradient
    descent, and converges. With $s$ of them a round it does not stay at the minimiser: the gradients there differ, with
    mean square $\zeta^2$. One round from $x_\star$ scatters by

    $$\frac{\eta^2 \zeta^2}{s} \cdot \frac{m - s}{m - 1} \quad \text{without replacement, or} \quad
    \frac{\eta^2 \zeta^2}{s} \quad \text{with it.}$$

    ### Questions

    1. Set the heterogeneity to zero. Why is there no floor then, with any number of clients?
    2. Halve the step. By which factor does the floor on the left fall, and by which the dots on the right?
    3. Twelve draws with replacement are not all twelve clients. Where do you see it in both panels?
    """)
    return


if __name__ == "__main__":
    app.run()
