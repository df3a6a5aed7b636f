"""All uses of unpromised parts of ipykernel and comm.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another folder uses it. Of
IPython only documented names are used, by `taskscope.jupyter.magics`; of ipywidgets a name in
`taskscope.jupyter.widgets`, whose classes are widgets.
"""
