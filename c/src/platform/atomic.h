/* C11 atomics, by the compiler's own header. MSVC has them with /std:c11 /experimental:c11atomics, which CMakeLists.txt
 * asks for. No stand-alone fence is used anywhere: thread sanitizers do not model it. */
#ifndef UVB_ATOMIC_H
#define UVB_ATOMIC_H

#if defined(__STDC_NO_ATOMICS__)
#error "libuvbatch needs C11 atomics"
#endif
#include <stdatomic.h>

#endif
