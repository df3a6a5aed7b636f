"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import taskscope

project = "taskscope"
author = "The taskscope developers"
release = taskscope.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.intersphinx"]
intersphinx_mapping: dict[str, tuple[str, str | None]] = {}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "taskscope"
html_theme_options = {"use_edit_page_button": False, "show_prev_next": True}
html_show_sourcelink = False

default_role = "py:obj"
nitpicky = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
