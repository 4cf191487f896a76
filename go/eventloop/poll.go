package eventloop

type poller struct{}

func (p *poller) nextReady() func() { return nil }

func (p *poller) close() {}
