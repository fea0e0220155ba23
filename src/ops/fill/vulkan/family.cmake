# SPDX-License-Identifier: MIT
list(APPEND shader_variants sequence:sequence.comp:FLOATS=0 sequence_of_floats:sequence.comp:FLOATS=1
  sequence_of_doubles:sequence.comp:FLOATS=2)
