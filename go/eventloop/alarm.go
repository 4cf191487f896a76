package eventloop

import "time"

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

// goAlarm is a timer of the Go runtime. Its function only sets bits of the state word: a goroutine that lasts some
// hundred ns.
type goAlarm struct {
	loop  *Loop
	timer *time.Timer
}

func newGoAlarm(l *Loop) alarm {
	return &goAlarm{loop: l}
}

func (a *goAlarm) set(at int64) {
	d := time.Duration(max(0, at-clock()))
	if a.timer == nil {
		a.timer = time.AfterFunc(d, func() { a.loop.notify(urgent) })
	} else {
		a.timer.Reset(d)
	}
}

func (a *goAlarm) stop() { a.timer.Stop() }

func (a *goAlarm) close() {
	if a.timer != nil {
		a.timer.Stop()
	}
}
