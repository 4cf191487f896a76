package eventloop

import (
	"maps"
	"reflect"
	"slices"

	"github.com/dop251/goja"
	"github.com/dop251/goja_nodejs/console"
)

// object makes a Go value an object of JavaScript whose Export is the Go value, as Runtime.ToValue would, but without
// its reflection, which costs more than all else that setTimeout does. Its methods are those of goja.DynamicObject;
// properties that scripts give it are kept.
type object struct {
	properties map[string]goja.Value
}

func (o *object) Get(key string) goja.Value { return o.properties[key] }

func (o *object) Set(key string, value goja.Value) bool {
	if o.properties == nil {
		o.properties = make(map[string]goja.Value)
	}
	o.properties[key] = value
	return true
}

func (o *object) Has(key string) bool {
	_, has := o.properties[key]
	return has
}

func (o *object) Delete(key string) bool {
	delete(o.properties, key)
	return true
}

func (o *object) Keys() []string { return slices.Collect(maps.Keys(o.properties)) }

var (
	typeTimer     = reflect.TypeFor[*Timer]()
	typeInterval  = reflect.TypeFor[*Interval]()
	typeImmediate = reflect.TypeFor[*Immediate]()
)

func exported(value goja.Value) *job {
	object, ok := value.(*goja.Object)
	if !ok {
		return nil
	}
	// The type first: Export of any other object may copy all that it holds.
	switch object.ExportType() {
	case typeTimer:
		if t := object.Export().(*Timer); t != nil {
			return &t.job
		}
	case typeInterval:
		if i := object.Export().(*Interval); i != nil {
			return &i.job
		}
	case typeImmediate:
		if i := object.Export().(*Immediate); i != nil {
			return &i.job
		}
	}
	return nil
}

func (loop *EventLoop) set(name string, arguments int, fn func(goja.FunctionCall) goja.Value) {
	value := loop.vm.ToValue(defined(fn)).ToObject(loop.vm)
	_ = value.DefineDataProperty("name", loop.vm.ToValue(name), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = value.DefineDataProperty("length", loop.vm.ToValue(arguments), goja.FLAG_FALSE, goja.FLAG_TRUE, goja.FLAG_FALSE)
	_ = loop.vm.Set(name, value)
}

// defined makes a nil result undefined. goja does so for calls in scripts, and panics when it calls a function itself,
// as in promise.then(setImmediate).
func defined(fn func(goja.FunctionCall) goja.Value) func(goja.FunctionCall) goja.Value {
	return func(call goja.FunctionCall) goja.Value {
		if value := fn(call); value != nil {
			return value
		}
		return goja.Undefined()
	}
}

// enableConsoleObject adds console of goja_nodejs, whose functions return nil too.
func (loop *EventLoop) enableConsoleObject() {
	console.Enable(loop.vm)
	object := loop.vm.Get(console.ModuleName).ToObject(loop.vm)
	for _, name := range object.Keys() {
		if fn, ok := object.Get(name).Export().(func(goja.FunctionCall) goja.Value); ok {
			_ = object.Set(name, defined(fn))
		}
	}
}
