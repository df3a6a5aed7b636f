"""Computes of Dask's schedulers in this process."""
