// Command millrace-js runs a script of JavaScript on Millrace's event loop.
//
//	millrace-js [-e CODE | FILE | -] [ARGUMENT...]
//
// It understands CommonJS and has timers, promises, queueMicrotask, console, require and a small process; see --help.
package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
)

const help = `millrace-js runs a script of JavaScript on Millrace's event loop.

Usage:
  millrace-js FILE [ARGUMENT...]      run a file
  millrace-js -e CODE [ARGUMENT...]   run CODE
  millrace-js - [ARGUMENT...]         run what comes from standard input
  millrace-js --help | --version

What a script has:
  setTimeout, setInterval, setImmediate and their clear functions, queueMicrotask,
  Promise, async and await; each in the order in which Node.js runs it
  console.log, info, debug, dir, count, group, time (standard output), warn, error,
  assert (standard error), and what belongs to them
  require of files (.js, .json), of folders and of node_modules, as CommonJS modules
  require of console, process, util (format, inspect), timers, timers/promises
  process: argv, env, exit, exitCode, nextTick, hrtime, uptime, cwd, pid, platform,
  arch, version, stdout.write, stderr.write, on and once ('exit', 'beforeExit',
  'uncaughtException', 'unhandledRejection')
  performance.now, global

What it has not: ES modules (import, export), files, sockets and the rest of the
library of Node.js. The engine is goja: ECMAScript 6 and most of what came later.

Exit status:
  0  the script ended, or what process.exit or process.exitCode said
  1  an error or a rejected promise was not caught; its stack is on standard error
  2  the command line is wrong
  130  Ctrl-C

Examples:
  millrace-js -e 'setTimeout(() => console.log("later"), 100); console.log("now")'
  echo 'console.log(process.argv.slice(2))' | millrace-js - a b
`

func main() {
	if !signal.Ignored(os.Interrupt) {
		interrupts := make(chan os.Signal, 1)
		signal.Notify(interrupts, os.Interrupt)
		go func() {
			<-interrupts
			os.Exit(130)
		}()
	}
	script, answer, err := commandLine(os.Args[1:])
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "millrace-js: %v\n", err)
		os.Exit(2)
	case answer != "":
		fmt.Print(answer)
	default:
		os.Exit(script.run())
	}
}

// commandLine returns the script to run, or the answer to a question about the command itself.
func commandLine(args []string) (s *script, answer string, err error) {
	if len(args) == 0 {
		if info, err := os.Stdin.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return nil, "", fmt.Errorf("which script? Name a file, or see millrace-js --help")
		}
		args = []string{"-"}
	}
	switch first := args[0]; {
	case first == "-h" || first == "--help":
		return nil, help, nil
	case first == "-v" || first == "--version":
		millrace, goja := versions()
		return nil, fmt.Sprintf("millrace-js %s (goja %s)\n", millrace, goja), nil
	case first == "-e" || first == "--eval":
		if len(args) < 2 {
			return nil, "", fmt.Errorf("%s needs code: millrace-js -e 'console.log(1)'", first)
		}
		return evaluated("[eval]", args[1], args[2:]), "", nil
	case first == "-":
		code, err := io.ReadAll(os.Stdin)
		if err != nil {
			return nil, "", fmt.Errorf("cannot read standard input: %w", err)
		}
		return evaluated("[stdin]", string(code), args[1:]), "", nil
	case first == "--" && len(args) > 1:
		args = args[1:]
	case strings.HasPrefix(first, "-"):
		return nil, "", fmt.Errorf("there is no option %s: see millrace-js --help", first)
	}
	s, err = fromFile(args[0], args[1:])
	return s, "", err
}

// versions are those that the binary was built from.
func versions() (millrace, goja string) {
	millrace, goja = "(devel)", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return millrace, goja
	}
	if info.Main.Version != "" {
		millrace = info.Main.Version
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/dop251/goja" {
			goja = module.Version
		}
	}
	return millrace, goja
}
