"""``python -m polhode``: the command line."""

from polhode.cli.main import main

main()
