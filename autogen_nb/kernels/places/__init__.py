"""The places where code runs, and the provisioners that start kernels and programs there."""
