"""Numbers only: coefficients as exact expressions, with their source."""
