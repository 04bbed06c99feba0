"""Files: NetCDF, checkpoints and sampled data."""
