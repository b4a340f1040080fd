"""`python -m layercake_lint`."""

from layercake_lint import main

main()
