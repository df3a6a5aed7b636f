"""The unpromised parts of Dask's local schedulers and tasks that are used.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another folder uses it;
`taskscope.sources.cluster` has a folder of its own. That a subclass of `dask.callbacks.Callback` has hooks
such as ``_pretask`` is documented, and used by `taskscope.diagnostics`.
"""
