package eventloop

import (
	"github.com/dop251/goja"
)

// ticks is process.nextTick: its functions run before the microtasks. goja runs these when the outermost call of
// JavaScript ends, so everything else has to happen inside one such call: the frame, which calls body back.
type ticks struct {
	queue   []tick
	frame   goja.Callable
	body    goja.Value
	task    func(*goja.Runtime)
	inFrame bool
}

type tick struct {
	fn   goja.Callable
	args []goja.Value
}

var frameSource = goja.MustCompile("millrace:frame", `(function (body) { body(); })`, true)

func (loop *EventLoop) enableTicks() {
	source, err := loop.vm.RunProgram(frameSource)
	if err != nil {
		panic(err)
	}
	loop.ticks.frame, _ = goja.AssertFunction(source)
	loop.ticks.body = loop.vm.ToValue(loop.framed)
	_ = loop.vm.Get("process").ToObject(loop.vm).Set("nextTick", loop.nextTick)
}

func (loop *EventLoop) nextTick(call goja.FunctionCall) goja.Value {
	fn, ok := goja.AssertFunction(call.Argument(0))
	if !ok {
		loop.typeError("ERR_INVALID_ARG_TYPE", "process.nextTick: the callback has to be a function")
	}
	loop.ticks.queue = append(loop.ticks.queue, tick{fn, rest(call, 1)})
	return goja.Undefined()
}

// taskWithTicks runs a callback, the ticks, the microtasks, and again the ticks and microtasks that these add; then it
// tells of rejections, which may add some too.
func (loop *EventLoop) taskWithTicks(fn func(*goja.Runtime)) {
	t := &loop.ticks
	t.task, t.inFrame = fn, false
	for t.task != nil || len(t.queue) > 0 || len(loop.rejected) > 0 {
		if t.task == nil && len(t.queue) == 0 {
			t.task = func(*goja.Runtime) { loop.reportRejections() }
		}
		if _, err := t.frame(nil, t.body); err != nil {
			// Interrupted: what the frame has not come to is dropped, as goja drops its microtasks.
			t.task, t.queue, t.inFrame = nil, nil, false
			loop.fail(err)
		}
	}
}

// framed is what the frame calls back.
func (loop *EventLoop) framed(goja.FunctionCall) goja.Value {
	t := &loop.ticks
	t.inFrame = true
	if task := t.task; task != nil {
		t.task = nil
		task(loop.vm)
	}
	for len(t.queue) > 0 {
		queue := t.queue
		t.queue = nil
		for _, tick := range queue {
			loop.call(tick.fn, goja.Undefined(), tick.args)
		}
	}
	t.inFrame = false
	return goja.Undefined()
}
