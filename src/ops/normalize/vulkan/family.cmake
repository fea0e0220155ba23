# SPDX-License-Identifier: MIT
list(APPEND shader_variants softmax:softmax.comp:LOGARITHM=0 log_softmax:softmax.comp:LOGARITHM=1)
