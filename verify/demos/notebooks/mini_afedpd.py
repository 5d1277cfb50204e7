"""Virtual duals in miniature: held-out loss of FedAvg, FedDyn and A-FedPD when few clients take part in a round."""

import marimo

app = marimo.App(width="medium", app_title="Virtual duals in miniature")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import mini_afedpd as demo

    mo.md("# Virtual duals in miniature")
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
    Handwritten digits over ten clients of unequal classes, a network with eight hidden values, a third of the images held
    out. Not the paper's data sets, not its tables. FedDyn keeps a dual per client, which grows old while the client is
    absent. A-FedPD moves the duals of absent clients along, as if these had returned the average.

    ### Questions

    1. With all clients both methods take the same steps, and return two different models. Which two?
    2. Let $\rho$ fall. The server adds the mean dual divided by $\rho$: what happens with one client in a round?
    3. Which curve moves least when you change the number of clients in a round, and which most?
    """)
    return


if __name__ == "__main__":
    app.run()
