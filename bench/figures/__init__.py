# SPDX-License-Identifier: MIT
"""Pictures and tables of measurements, for bench/plot.py. Needs only Python."""
