"""``print(model)`` says what acts, with numbers and units."""

import numpy as np

import polhode as ph


def test_a_model_of_the_library_has_units():
    assert str(ph.models.drag(0.25, 0.5)).splitlines() == [
        "drag: Drag with coefficients linear (N s/m) and rotational (N m s), the same in all axes.",
        "  linear = 0.25 N s/m",
        "  rotational = 0.5 N m s",
    ]
    assert "stiffness = 3 N/m" in str(ph.models.spring(3.0, (0, 0, 0), (0.5, 0, 0)))


def test_a_sum_lists_its_terms_and_a_user_s_function_its_own_words():
    def wind(t, q, omega, params):
        """Wind from a table, in newton metres."""
        return 0.0, 0.0, 0.0

    model = ph.torque(wind, {"scale": 1.5, "table": np.ones((50, 2))}) + ph.models.heavy_top(20)
    lines = str(model).splitlines()
    assert lines[:4] == [
        "sum of 2 models",
        "wind: Wind from a table, in newton metres.",
        "  scale = 1.5",
        "  table = array of shape (50, 2)",
    ]
    assert lines[-1] == "  strength = 20"
    assert str(ph.torque(lambda t, q, omega, params: params, (1, 2, (3, 4)))).splitlines() == [
        "<lambda>",
        "  p0 = 1",
        "  p1 = 2",
        "  p2 = (3, 4)",
    ]
