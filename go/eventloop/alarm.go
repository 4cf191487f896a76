package eventloop

import (
	"math"
	"time"
)

// alarm makes the loop look at its timers at some time.
type alarm interface {
	// set replaces the time that was set before.
	set(at int64)
	// stop takes it back.
	stop()
	// close releases what the alarm holds of the system.
	close()
}

// newAlarm makes the loop's alarm, at its first timer. Where there is no precise one, Go's timers have to do.
func (l *Loop) newAlarm() alarm {
	if l.config.PreciseTimers {
		if alarm, err := newPreciseAlarm(l); err == nil {
			return alarm
		}
	}
	return newGoAlarm(l)
}

// goAlarm is a timer of the Go runtime. Its function, a goroutine of some hundred ns, only sets bits of the state word.
type goAlarm struct{ *time.Timer }

func newGoAlarm(l *Loop) alarm {
	return &goAlarm{time.AfterFunc(math.MaxInt64, func() { l.notify(urgent) })}
}

func (a *goAlarm) set(at int64) { a.Reset(time.Duration(max(0, at-clock()))) }
func (a *goAlarm) stop()        { a.Stop() }
func (a *goAlarm) close()       { a.Stop() }
