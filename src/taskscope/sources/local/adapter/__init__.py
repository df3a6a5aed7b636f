"""What is relied on of Dask's local schedulers and tasks that Dask does not promise, and nowhere else.

``tests/unit/test_private_names.py`` fails when one of these names changes, or another folder knows it; what
`taskscope.sources.cluster` relies on is in its own folder of this name. That a subclass of
`dask.callbacks.Callback` has hooks such as ``_pretask`` is documented, and used by `taskscope.diagnostics`.
"""
