"""From a fresh checkout to a running page: the part of start_app.sh and run_tests.sh that is more than shell.

Standard library only: it runs under the Python that was found on the computer, before anything is installed. It is
Python rather than shell because reading the cards, repairing an environment, asking whether the page answers and
saying all that in two languages want data structures and tests.
"""
