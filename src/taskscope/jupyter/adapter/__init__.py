"""What is relied on of ipykernel and comm that they do not promise, and nowhere else.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another folder knows it. Of
IPython only what it documents is used, by `taskscope.jupyter.magics`; of ipywidgets a name in
`taskscope.jupyter.widgets`, whose classes are widgets.
"""
