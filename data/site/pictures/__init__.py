# SPDX-License-Identifier: MIT
"""The pictures of the operators' pages. run.py asks the library what an operator computes, svg.py draws shapes, kinds.py and
grids.py have one drawing function for each kind of picture, and rows.py has one row for each operator."""
