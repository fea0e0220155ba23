# SPDX-License-Identifier: MIT
foreach(word 1 2 4 8 16)
  list(APPEND shader_variants select_words_${word}:select_words.comp:WORD=${word})
endforeach()
