"""Benchmarks of the front end: a chart in headless Chromium, JupyterLab with a million tasks."""
