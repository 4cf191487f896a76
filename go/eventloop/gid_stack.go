//go:build !amd64 && !arm64

package eventloop

import "runtime"

// gid identifies the goroutine that calls it by the number that stacks are printed with. Takes about a microsecond,
// but needs no assembly. Where a word has 32 bits the numbers come again after 1<<28 goroutines: two that live at the
// same time look alike if exactly so many were started in between.
func gid() uintptr {
	var buffer [64]byte
	n := runtime.Stack(buffer[:], false)
	number := uintptr(0)
	for _, digit := range buffer[len("goroutine "):n] {
		if digit < '0' || digit > '9' {
			break
		}
		number = number*10 + uintptr(digit-'0')
	}
	// Kept apart from the bits and the small owner values of the state word, even when the number does not fit.
	return (number&(^uintptr(0)>>4) + 64) << 3
}
