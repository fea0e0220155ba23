# SPDX-License-Identifier: MIT
"""Ends a program quietly if the reader of its output has closed the pipe, as head does."""
import os
import sys


def exit_with(main):
    """Ends the program with main's status. If the reader has closed the pipe, it ends quietly, as after SIGPIPE."""
    try:
        try:
            status = main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes stdout again at exit
        status = 141
    sys.exit(status)
