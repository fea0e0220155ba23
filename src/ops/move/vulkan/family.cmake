# SPDX-License-Identifier: MIT
foreach(word 1 2 4 8 16)
  list(APPEND shader_variants reverse_words_${word}:reverse_words.comp:WORD=${word})
endforeach()
