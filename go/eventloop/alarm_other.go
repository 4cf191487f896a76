//go:build !linux

package eventloop

import "errors"

func newPreciseAlarm(*Loop) (alarm, error) { return nil, errors.ErrUnsupported }
