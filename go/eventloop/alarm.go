package eventloop

// newAlarm makes the loop's alarm, at its first timer.
func (l *Loop) newAlarm() alarm {
	return newGoAlarm(l)
}
