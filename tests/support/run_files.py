"""Run files that several tests use."""

TOPS = """
problem = "fast-top"

[run]
method = "mr2"
dt = 0.01
t_end = 0.5

[ensemble]
members = 40
seed = 3
save = [0.0, 0.25, 0.5]
reduce = ["quantiles(speed, 0.05, 0.5, 0.95)", "mean(omega)", "attitude", "extremes(energy)",
          "histogram(kinetic_energy, 1000, 1200, 1300, 1400)"]
reduce_times = 6

[vary]
omega = { normal = { mean = [0, 0, 50], sigma = 0.5 } }
"model.strength" = { uniform = { low = 10.0, high = 30.0 } }
attitude = { around = { sigma = 0.1 } }
"""
