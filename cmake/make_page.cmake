# Writes INPUT into OUTPUT, with files and their hashes in place of MARKS
# (page.cmake).
cmake_minimum_required(VERSION 3.25)

# 32 bytes in hex to base64: three bytes at a time are four digits.
function(to_base64 hex result)
  set(digits
    ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text)
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${hex}00" ${at} 6 three)
    foreach(shift 18 12 6 0)
      math(EXPR digit "(0x${three} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 digit)
      string(APPEND text "${digit}")
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

file(READ "${INPUT}" page)
foreach(mark IN LISTS MARKS)
  file(READ "${${mark}}" content)
  string(SHA256 hash "${content}")
  to_base64("${hash}" hash)
  string(REPLACE "@${mark}_hash@" "sha256-${hash}" page "${page}")
  string(REPLACE "@${mark}@" "${content}" page "${page}")
endforeach()
file(WRITE "${OUTPUT}" "${page}")
