package main

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
	"github.com/dop251/goja_nodejs/require"

	"millrace.dev/go/goja/eventloop"
)

type script struct {
	path string // absolute; for code that is not in a file, as if it were in the current folder
	code string
	args []string

	loop *eventloop.EventLoop
	vm   *goja.Runtime
	node *goja.Object // what process.js returns
}

func fromFile(name string, args []string) (*script, error) {
	path, err := filepath.Abs(name)
	if err == nil {
		path, err = resolve(path)
	}
	var code []byte
	if err == nil {
		code, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", name, plain(err))
	}
	return &script{path: path, code: string(code), args: args}, nil
}

// resolve finds the file as Node.js does: symbolic links followed, the ending left out if one likes.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, os.ErrNotExist) {
		if withEnding, found := filepath.EvalSymlinks(path + ".js"); found == nil {
			return withEnding, nil
		}
	}
	return real, err
}

// plain leaves out the path, which the message has already.
func plain(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func evaluated(name, code string, args []string) *script {
	folder, err := os.Getwd()
	if err != nil {
		folder = "."
	}
	return &script{path: filepath.Join(folder, name), code: code, args: args}
}

func (s *script) run() int {
	s.loop = eventloop.NewEventLoop(
		eventloop.WithNode(),
		eventloop.WithRegistry(s.registry()),
		eventloop.WithErrorHandler(s.failed),
	)
	s.loop.Run(func(vm *goja.Runtime) {
		s.vm = vm
		vm.SetMaxCallStackSize(maxCalls)
		s.enableProcess()
		if err := s.main(); err != nil {
			s.failed(err)
		}
	})
	s.beforeExit()
	return s.exitStatus(0)
}

func (s *script) main() error {
	code := withColumns(s.path, withoutShebang(s.code))
	parsed, err := parser.ParseFile(nil, s.path, wrapper+code+"\n})", 0, parser.WithSourceMapLoader(loadSource))
	if err != nil {
		return err
	}
	program, err := goja.CompileAST(parsed, false)
	if err != nil {
		return err
	}
	function, err := s.vm.RunProgram(program)
	if err != nil {
		return err
	}
	call, _ := goja.AssertFunction(function)
	module, exports, requires := s.vm.NewObject(), s.vm.NewObject(), s.enableRequire()
	_ = module.Set("exports", exports)
	_ = module.Set("id", ".")
	_ = module.Set("filename", s.path)
	_ = requires.Set("main", module)
	_, err = call(exports, exports, requires, module, s.vm.ToValue(s.path), s.vm.ToValue(filepath.Dir(s.path)))
	return err
}

// enableRequire makes require name the module that it cannot find.
func (s *script) enableRequire() *goja.Object {
	original, _ := goja.AssertFunction(s.vm.Get("require"))
	// A Go function that is called from here has no frame of its own, so it still sees which file asks.
	requires := s.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		value, err := original(call.This, call.Arguments...)
		switch {
		case errors.Is(err, require.InvalidModuleError) || errors.Is(err, require.NoSuchBuiltInModuleError):
			s.throwNotFound(call.Argument(0).String())
		case err != nil:
			panic(err)
		}
		return value
	}).ToObject(s.vm)
	_ = s.vm.Set("require", requires)
	return requires
}

func (s *script) throwNotFound(name string) {
	message := fmt.Sprintf("Cannot find module '%s'", name)
	if !strings.HasPrefix(name, ".") && !filepath.IsAbs(name) {
		message += "; of the modules of Node.js there are console, process, timers, timers/promises and util"
	}
	err, failed := s.vm.New(s.vm.Get("Error"), s.vm.ToValue(message))
	if failed == nil {
		failed = err.Set("code", "MODULE_NOT_FOUND")
	}
	if failed != nil {
		panic(failed)
	}
	panic(err)
}

// maxCalls is how deep calls may be nested, about as with Node.js. Without a bound a recursion that has no end takes
// all the memory of the machine.
const maxCalls = 10_000

// withoutShebang makes a first line of #! a comment of the same length.
func withoutShebang(code string) string {
	code = strings.TrimPrefix(code, "\ufeff")
	if strings.HasPrefix(code, "#!") {
		return "//" + code[2:]
	}
	return code
}

func loadSource(path string) ([]byte, error) {
	code, err := require.DefaultSourceLoader(path)
	if err != nil || filepath.Ext(path) == ".json" {
		return code, err
	}
	return []byte(withColumns(path, withoutShebang(string(code)))), nil
}

// failed is told of every error that the script has not caught. It does not return unless the script handles it.
func (s *script) failed(err error) {
	var rejection *eventloop.UnhandledRejection
	var exception *goja.Exception
	event, prefix := "uncaughtException", "Uncaught "
	var args []any
	if errors.As(err, &rejection) {
		event, prefix = "unhandledRejection", "Uncaught (in promise) "
		args = []any{rejection.Promise.Result(), rejection.Promise}
	}
	if errors.As(err, &exception) {
		if args == nil {
			args = []any{exception.Value(), event}
		}
		if s.emit(event, args...) {
			return
		}
		if rejection != nil && s.emit("uncaughtException", exception.Value(), event) {
			return
		}
		fmt.Fprint(os.Stderr, prefix, s.describe(exception))
	} else {
		fmt.Fprint(os.Stderr, prefix, s.explain(err))
	}
	os.Exit(s.exitStatus(1))
}

func (s *script) describe(exception *goja.Exception) string {
	var text strings.Builder
	value := exception.Value()
	if object, ok := value.(*goja.Object); ok && object.ClassName() == "Error" {
		_ = s.vm.Try(func() { text.WriteString(object.String()) })
	} else {
		text.WriteString(s.inspect(value))
	}
	text.WriteByte('\n')
	for _, frame := range exception.Stack() {
		at := frame.Position()
		if at.Filename == "" || strings.HasPrefix(at.Filename, "millrace:") {
			continue
		}
		where := fmt.Sprintf("%s:%d:%d", s.shown(at.Filename), at.Line, at.Column)
		if name := frame.FuncName(); name != "" {
			where = name + " (" + where + ")"
		}
		text.WriteString("    at " + where + "\n")
	}
	return text.String()
}

// explain is an error that has no value of JavaScript: most often a script that cannot be parsed.
func (s *script) explain(err error) string {
	var overflow *goja.StackOverflowError
	if errors.As(err, &overflow) {
		return fmt.Sprintf("RangeError: calls are nested more than %d deep\n", maxCalls)
	}
	var errs parser.ErrorList
	if !errors.As(err, &errs) || len(errs) == 0 {
		return err.Error() + "\n"
	}
	first := errs[0]
	column := first.Position.Column
	if first.Position.Line == 1 {
		column = max(1, column-len(wrapper))
	}
	file := s.shown(first.Position.Filename)
	text := fmt.Sprintf("SyntaxError: %s\n    at %s:%d:%d\n", first.Message, file, first.Position.Line, column)
	if modules.MatchString(s.code) {
		text += "ES modules (import, export) are not supported: use require and module.exports.\n"
	}
	return text
}

// shown leaves the folder out of the name of code that is in no file.
func (s *script) shown(file string) string {
	if name := filepath.Base(file); file == s.path && strings.HasPrefix(name, "[") {
		return name
	}
	return file
}

var modules = regexp.MustCompile(
	`(?m)^\s*(import\s*[\w{*'"]|export\s+(default|const|let|var|function|class|async|[{*]))`)

// ---- columns

// wrapper makes a function of a CommonJS module, here and in require.
const wrapper = "(function(exports,require,module,__filename,__dirname){"

// withColumns adds a source map to code, so that positions on its first line do not count the wrapper. Code that has a
// map of its own keeps that, and a path that is no URL as it stands would look different in the map.
func withColumns(path, code string) string {
	location, err := url.Parse(path)
	if err != nil || location.String() != path || strings.Contains(code, "\n//# sourceMappingURL=") {
		return code
	}
	first, _, _ := strings.Cut(code, "\n")
	sourceMap, err := json.Marshal(map[string]any{
		"version": 3,
		"sources": []string{path},
		"names":   []string{},
		// Column 1 is 1, as goja counts. Then each is one more, here and there.
		"mappings": vlq(len(wrapper)+1) + "AAC" + strings.Repeat(",CAAC", len(first)),
	})
	if err != nil {
		return code
	}
	return code + "\n//# sourceMappingURL=data:application/json;base64," + base64.StdEncoding.EncodeToString(sourceMap)
}

// vlq is a positive number as source maps write it: five bits a digit, the lowest first, and below them the sign.
func vlq(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	var text strings.Builder
	for n <<= 1; n > 31; n >>= 5 {
		text.WriteByte(digits[n&31|32])
	}
	text.WriteByte(digits[n])
	return text.String()
}
