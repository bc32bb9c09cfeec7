"""The site of the documentation: ``make docs``."""

from importlib.metadata import version as installed

from ipython_pygments_lexers import IPython3Lexer
from sphinx.application import Sphinx

project = "autogen_nb"
release = version = installed("autogen-nb")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "autogen_nb"
html_copy_source = False

# Links to headings, such as `safety.md#what-runs-where`.
myst_heading_anchors = 4

autodoc_default_options = {
    "members": True,
    "show-inheritance": True,
    # Pydantic's own, in each of its models.
    "exclude-members": "model_config, model_post_init",
}
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_google_docstring = False
# A `name` in a docstring links to what has this name, where the reference has it.
default_role = "py:obj"


def link_within_the_site(app: Sphinx, page: str, source: list[str]) -> None:  # noqa: ARG001 - Sphinx passes them
    """Has a page's link to the README, which is right in the repository, lead to the page that includes it."""
    source[0] = source[0].replace("](../README.md", "](index.md")


def setup(app: Sphinx) -> None:
    """Connects what is above, and has magics coloured, too."""
    app.add_lexer("python", IPython3Lexer)
    app.connect("source-read", link_within_the_site)
