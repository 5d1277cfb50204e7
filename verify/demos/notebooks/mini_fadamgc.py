"""Local Adam in miniature: held-out loss with and without gradient correction where clients have unequal classes."""

import marimo

app = marimo.App(width="medium", app_title="Local Adam in miniature")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import mini_fadamgc as demo

    mo.md("# Local Adam in miniature")
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
    Handwritten digits over ten clients, two of them in a round, a network with eight hidden values, a third of the images
    held out. Not the paper's data sets, not its tables. LocalAdam averages models whose moments saw different classes.
    FAdamGC corrects the gradients before they enter the moments, FA-NT the direction after them. One of the two clients in a
    round renews its correction, as in the paper.

    ### Questions

    1. Raise $\alpha$ in steps. At which skew does the correction stop to pay?
    2. Set $K = 1$. Is there drift that could be corrected? What does the correction do then?
    3. Adam's step is a length. What does a step of 0.03 with five local steps do to a model, whatever the gradients?
    """)
    return


if __name__ == "__main__":
    app.run()
