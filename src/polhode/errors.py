"""Errors and warnings.  Every message names the argument, its value and what to do."""


class PolhodeError(Exception):
    """Base class of all errors of this library.

    Examples
    --------
    >>> import polhode as ph
    >>> try:
    ...     ph.RigidBody([1, 2, 3.5])
    ... except ph.PolhodeError as error:
    ...     print(type(error).__name__)
    InputError
    """


class InputError(PolhodeError, ValueError):
    """An argument is invalid.

    Examples
    --------
    >>> import polhode as ph
    >>> try:
    ...     ph.shapes.sphere(-1.0, mass=1.0)
    ... except ph.InputError as error:
    ...     print(error)
    radius must be positive and finite, got -1.0
    """


class MethodError(InputError):
    """A method is unknown, or does not fit the problem or the other arguments.

    Examples
    --------
    >>> import polhode as ph
    >>> try:
    ...     ph.solve(ph.problems.fast_top(), (0, 1), method="strangg", dt=0.01)
    ... except ph.MethodError as error:
    ...     print("did you mean strang" in str(error))
    True
    """


class StepError(PolhodeError, ArithmeticError):
    """A step of a simulator failed; ``status`` says how.

    Examples
    --------
    >>> import polhode as ph
    >>> sim = ph.Simulator(ph.RigidBody([1, 2, 3]), method="imidm", omega=(0.1, 0.2, 0.3))
    >>> sim.apply_torque((1e3, -2e3, 500))
    >>> try:
    ...     sim.step(10.0)
    ... except ph.StepError as error:
    ...     print(error.status == ph.Status.NOT_CONVERGED, sim.t)
    True 0.0
    """

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


class FileError(PolhodeError, ValueError):
    """A file is missing, or its content is not as expected.

    Examples
    --------
    >>> import polhode as ph
    >>> try:
    ...     ph.load("missing.nc")
    ... except ph.FileError as error:
    ...     print("missing.nc" in str(error))
    True
    """


class PolhodeWarning(UserWarning):
    """Something works, but not as well as it could.

    Examples
    --------
    >>> import numpy as np, polhode as ph, warnings
    >>> fast = np.full((11, 3), 200.0)  # rad/s, or were they degrees?
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     run = ph.integrate_samples(fast, np.linspace(0, 0.1, 11), frame="body", kind="rate")
    >>> caught[0].category.__name__
    'PolhodeWarning'
    """
