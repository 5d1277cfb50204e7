"""Free clients in miniature: held-out loss of the priority clients with good and bad free clients, and who is let in."""

import marimo

app = marimo.App(width="medium", app_title="Free clients in miniature")


@app.cell
def _():
    import marimo as mo

    from verify.demos import live
    from verify.demos.pictures import mini_fedalign as demo

    mo.md("# Free clients in miniature")
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
    Ten priority clients with samples of Synth(1,1), and ten free clients with copies of these samples, whose labels are
    noisy and which have irrelevant points besides. Held out are samples of the priority clients; nobody has a copy of them.
    FedALIGN lets a free client in when its loss is within $\epsilon$ of the priority clients'. Not the paper's data sets,
    not its tables: a small draw, in one reading of the paper's recipe.

    ### Questions

    1. Without noise all free clients help. With which threshold does FedALIGN let them in?
    2. Raise the noise. What happens with all clients, and what with FedALIGN at $\epsilon = 3$?
    3. Is there a noise at which FedALIGN is better than both others? Where does this gain come from?
    """)
    return


if __name__ == "__main__":
    app.run()
