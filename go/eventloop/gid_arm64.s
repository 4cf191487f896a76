#include "textflag.h"

// func gid() uintptr
TEXT ·gid(SB), NOSPLIT, $0-8
	MOVD g, R0
	MOVD R0, ret+0(FP)
	RET
