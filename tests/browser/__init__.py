"""A real browser on real JupyterLab and Notebook 7: nothing between a person's click and the kernel is faked."""
