package eventloop

// newAlarm makes the loop's alarm, at its first timer. Where there is no precise one, Go's timers have to do.
func (l *Loop) newAlarm() alarm {
	if l.precise {
		if alarm, err := newPreciseAlarm(l); err == nil {
			return alarm
		}
	}
	return newGoAlarm(l)
}
