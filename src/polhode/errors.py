"""What can go wrong.  Every message names the argument, its value and what to do."""


class PolhodeError(Exception):
    """The parent of all errors of this library."""


class InputError(PolhodeError, ValueError):
    """An argument is not acceptable."""


class MethodError(InputError):
    """A method is unknown, or does not fit the problem or the other arguments."""


class FileError(PolhodeError, ValueError):
    """A file is not what it should be."""


class PolhodeWarning(UserWarning):
    """Something works, but not as well as it could."""
