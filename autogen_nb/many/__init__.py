"""One chat for each row of a table, on a Dask cluster; `autogen_nb.map` is its entry."""
