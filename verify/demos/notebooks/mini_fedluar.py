"""Uploads in miniature: held-out loss against the floats that FedLUAR and its rivals send."""

import marimo

app = marimo.App(width="medium", app_title="Uploads in miniature")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import mini_fedluar as demo

    mo.md("# Uploads in miniature")
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
    Handwritten digits over ten clients of unequal classes, three of them in a round, a network of four layers, a third of
    the images held out. Not the paper's data sets, not its tables. FedLUAR repeats the last update of layers that moved
    little, and asks clients for the others. FedPAQ rounds each float to a few bits; FedDropoutAvg drops half of the floats
    at random.

    ### Questions

    1. Read off how many models each method uploads until the loss is 1.5. Which picture ranks them otherwise?
    2. The first layer has most of the parameters. When does recycling other layers save anything?
    3. Lower the bits to 2. The rounding is unbiased: why does it cost loss all the same?
    """)
    return


if __name__ == "__main__":
    app.run()
