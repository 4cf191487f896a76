//go:build !amd64 && !arm64

package eventloop

import "runtime"

// gid identifies the goroutine that calls it by the number that stacks are printed with. Takes about a microsecond,
// but needs no assembly.
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
	// Clear of the bits and of the small owners of the state word.
	return (number + 64) << 3
}
