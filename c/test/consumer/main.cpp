// The same program in C++: what the header declares is found in a library that is C.
#include "main.c"
