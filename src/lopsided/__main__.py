"""`python -m lopsided` is the command `lopsided`."""

from lopsided.cli.main import main

if __name__ == "__main__":
    main()
