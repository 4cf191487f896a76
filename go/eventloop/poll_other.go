//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package eventloop

func newSelector() (selector, error) { return nil, ErrUnsupported }

func explain(error) string { return "" }
