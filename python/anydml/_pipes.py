# SPDX-License-Identifier: MIT
"""The end of a program whose reader has closed the pipe, as head does."""
import os
import sys


def exit_with(main):
    """Ends the program with main's status; if the reader of its output is gone, quietly, as by SIGPIPE."""
    try:
        try:
            status = main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at exit
        status = 141
    sys.exit(status)
