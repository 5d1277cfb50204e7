"""Sphinx on the gathered sources: offline, with search and a dark mode; formulas are MathML."""

project, author = "fedtheory", "the authors of fedtheory"
copyright = author
html_title = "fedtheory"
version = release = __import__("importlib.metadata", fromlist=["version"]).version("fedtheory")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "docs.site.extension"]
html_theme = "furo"
html_static_path = ["static"]
html_extra_path = ["../../build/site-source/extra"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_search_summary = False  # which browsers do not load from disk
html_math_renderer = "mathml"
highlight_language = "text"  # of blocks in docstrings; those with a prompt are Python all the same
pygments_style, pygments_dark_style = "friendly", "monokai"

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
default_role = "code"
nitpicky = False

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_default_options = {"no-value": True}
napoleon_numpy_docstring = False
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # guesses at the names of types in prose
python_maximum_signature_line_length = 100
