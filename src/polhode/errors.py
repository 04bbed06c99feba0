"""Errors and warnings.  Every message names the argument, its value and what to do."""


class PolhodeError(Exception):
    """Base class of all errors of this library."""


class InputError(PolhodeError, ValueError):
    """An argument is invalid."""


class MethodError(InputError):
    """A method is unknown, or does not fit the problem or the other arguments."""


class StepError(PolhodeError, ArithmeticError):
    """A step of a simulator failed; ``status`` says how."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


class FileError(PolhodeError, ValueError):
    """A file is missing, or its content is not as expected."""


class PolhodeWarning(UserWarning):
    """Something works, but not as well as it could."""
