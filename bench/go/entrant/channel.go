package entrant

// Channel is the loop that anybody would write first: a buffered channel of functions.
type Channel struct {
	tasks chan func()
	ended chan struct{}
}

// NewChannel starts a Channel.
func NewChannel(queue int) (Entrant, error) {
	if queue == 0 {
		queue = 1024 // more does not make it quicker
	}
	l := &Channel{tasks: make(chan func(), queue), ended: make(chan struct{})}
	go l.run()
	return l, nil
}

func (l *Channel) run() {
	defer close(l.ended)
	for task := range l.tasks {
		task()
	}
}

// Submit implements Entrant. It waits while the channel is full.
func (l *Channel) Submit(task func()) error {
	l.tasks <- task
	return nil
}

// Close implements Entrant.
func (l *Channel) Close() error {
	close(l.tasks)
	<-l.ended
	return nil
}
