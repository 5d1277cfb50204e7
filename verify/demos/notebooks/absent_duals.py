"""Primal-dual drift: the duals of absent clients grow old; moving them along helps exactly as far as clients are alike."""

import marimo

app = marimo.App(width="medium", app_title="Primal-dual drift")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import absent_duals as demo

    mo.md("# Primal-dual drift")
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
    Primal-dual methods keep for every client a dual $\lambda_k$, which at the optimum is $-\nabla F_k(x_\star)$. With few
    clients a round most duals rest (FedDyn), while the model moves on. A-FedPD updates the duals of absent clients too, as
    if their local model had been the average. For clients that are all the same this is what they would have done. For
    clients that differ it is not, and the duals on the right stay away.

    One federation with one setting ranks nothing; the slider of heterogeneity changes the order.

    ### Questions

    1. Which heterogeneity is the first at which resting duals are ahead? Does it depend on the number of clients a round?
    2. Let all clients take part. Why do the duals of both methods agree then?
    3. Raise $\rho$. What does it trade, in the left panel and in the right one?
    """)
    return


if __name__ == "__main__":
    app.run()
