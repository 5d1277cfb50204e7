"""Flat minima and weight averaging: noise of the steps decides which wells keep a model, and rates that fall within a
round lower the noise that is averaged."""

import marimo

app = marimo.App(width="medium", app_title="Flat minima and weight averaging")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import flat_minima as demo

    mo.md("# Flat minima and weight averaging")
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
    On this line there is a narrow deep well and a wide one. Two hundred runs begin evenly spread. Constant noisy steps throw
    models out of the narrow well first. FedSWA's local rates fall within every round, so that its averages are less noisy,
    and its server goes $\eta_g$ times the way to the average. Dashed: the same models on new data, whose wells have moved
    by $\delta$. That flat minima suffer less from this is the usual reason to look for them.

    The landscape is made for this picture. It ranks nothing: at other steps and noises other methods are ahead.

    ### Questions

    1. Which of both methods leaves the sharp well more often, and why?
    2. Move the new data. At which $\delta$ does the sharp well stop to be the better one?
    3. Raise $\eta_g$. What happens to the spread in the flat well, and which step of FedAvg gives the same?
    """)
    return


if __name__ == "__main__":
    app.run()
