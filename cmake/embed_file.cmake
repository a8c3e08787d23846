# Writes the bytes of INPUT as a C array called NAME into OUTPUT. They are one
# string, which compiles 20 times as fast as a list of numbers.
file(READ "${INPUT}" bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include <stddef.h>
extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_len;
const unsigned char ${NAME}[] = \"${bytes}\";
const size_t ${NAME}_len = sizeof(${NAME}) - 1; // without the NUL at its end
")
