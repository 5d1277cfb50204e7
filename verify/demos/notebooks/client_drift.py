"""Client drift: between averages clients walk to their own minimisers, and FedAvg stops where their walks cancel."""

import marimo

app = marimo.App(width="medium", app_title="Client drift")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import client_drift as demo

    mo.md("# Client drift")
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
    Two clients have quadratic losses with different curvatures. In each round both start at the server's model, take $K$
    gradient steps of $\eta$ on their own loss, and the server averages. With $K > 1$ each client goes part of the way to
    its own minimiser. FedAvg's model stays where these ways cancel (the grey walks from the cross), which is not where the
    gradients cancel (the star). SCAFFOLD corrects each client's gradient by a control variate.

    ### Questions

    1. Set $K = 1$. Why does FedAvg stop at the minimiser for every $\eta$ and every heterogeneity?
    2. Keep $K \eta$ the same, once with few large and once with many small steps. Which of them decides where FedAvg stops?
    3. Move the minimisers together. How does the distance depend on their distance: linearly, or by its square? Prove it.
    """)
    return


if __name__ == "__main__":
    app.run()
