# The guide shows an example as it is, so that what readers copy is what the tests have run.
#   cmake -D GUIDE=… -D EXAMPLE=… -P guide.cmake
file(READ ${GUIDE} guide)
file(READ ${EXAMPLE} code)
string(FIND "${guide}" "\n```c\n${code}```\n" at)
if(at EQUAL -1)
  message(FATAL_ERROR "${GUIDE} must show ${EXAMPLE} word for word")
endif()
