# SPDX-License-Identifier: MIT
"""The pictures on the operators' pages. run.py runs operators with the library, svg.py draws shapes, kinds.py and
grids.py have one drawing function for each kind of picture, and rows.py has one row for each operator."""
