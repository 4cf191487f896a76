package main

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestStatusAndMessages(t *testing.T) {
	for code, want := range map[string]struct {
		status int
		stderr []string // parts of it; none: nothing is written
	}{
		`console.log(1)`:                     {status: 0},
		`process.exit(7); console.log("no")`: {status: 7},
		`process.exitCode = 4`:               {status: 4},
		`setTimeout(process.exit, 5, 9)`:     {status: 9},
		`process.exit(257)`:                  {status: 1},
		`process.exit("abc")`: {1, []string{
			"Uncaught TypeError: The \"code\" argument must be of type number. Received type string ('abc')\n",
		}},
		`process.on("beforeExit", () => { throw 4 })`: {1, []string{"Uncaught 4"}},
		`throw new TypeError("bad")`: {1, []string{
			"Uncaught TypeError: bad\n", "at <anonymous> ([eval]:1:7)",
		}},
		`throw { code: 5 }`: {1, []string{"Uncaught { code: 5 }"}},
		`throw undefined`:   {1, []string{"Uncaught undefined"}},
		`Promise.reject(new Error("left"))`: {1, []string{
			"Uncaught (in promise) Error: left\n", "[eval]:1:",
		}},
		`(async () => { null.x })()`:          {1, []string{"Uncaught (in promise) TypeError"}},
		`queueMicrotask(() => { throw 1 })`:   {1, []string{"Uncaught 1"}},
		`process.nextTick(() => { throw 1 })`: {1, []string{"Uncaught 1"}},
		"\n\nfunction deep() { lost() }\ndeep()": {1, []string{
			"lost is not defined", "at deep ([eval]:3:", "[eval]:4:",
		}},
		`setTimeout(function late() { throw new Error("x") }, 1)`: {1, []string{
			"Uncaught Error: x\n    at late ([eval]:1:",
		}},
		`let x = ;`:                {1, []string{"Uncaught SyntaxError: Unexpected token ;\n    at [eval]:1:9\n"}},
		`const a = 1; const a = 2`: {1, []string{"SyntaxError", "already been declared"}},
		`import fs from "fs"`:      {1, []string{"ES modules (import, export) are not supported"}},
		`require("fs")`:            {1, []string{"Cannot find module 'fs'", "timers/promises"}},
		`require("./gone")`:        {1, []string{"Cannot find module './gone'\n"}},
		`(function f() { f() })()`: {1, []string{"RangeError: calls are nested more than 10000 deep"}},
		`process.on("uncaughtException", () => { throw 2 }); throw 1`: {7, []string{"Uncaught 2"}},
		`process.on("exit", () => { throw 3 })`:                       {1, []string{"Uncaught 3"}},
		`console.error("to", "stderr"); console.warn("too")`:          {0, []string{"to stderr\ntoo\n"}},
		`setTimeout("code")`: {1, []string{
			"TypeError: setTimeout: the callback has to be a function",
		}},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			got := millraceJS(t, "", "-e", code)
			if got.status != want.status || want.stderr == nil && got.stderr != "" {
				t.Errorf("status %d, want %d: %s%s", got.status, want.status, got.stdout, got.stderr)
			}
			for _, part := range want.stderr {
				if !strings.Contains(got.stderr, part) {
					t.Errorf("%q is not in %q", part, got.stderr)
				}
			}
			if strings.Contains(got.stdout, "no") {
				t.Error("code ran after process.exit")
			}
		})
	}
}

func TestWaysToNameAScript(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "script.js")
	code := "#!/usr/bin/env millrace-js\nconsole.log('file', process.argv.slice(2).join())"
	if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	const fromStdin = `console.log('stdin', process.argv.slice(2).join())`
	for _, each := range []struct {
		stdin string
		args  []string
		want  string
	}{
		{"", []string{file, "a", "-e"}, "file a,-e\n"},
		{"", []string{strings.TrimSuffix(file, ".js")}, "file \n"},
		{"", []string{"--", file, "--help"}, "file --help\n"},
		{"", []string{"-e", "console.log('eval', ...process.argv.slice(2))", "x"}, "eval x\n"},
		{fromStdin, []string{"-", "b"}, "stdin b\n"},
		{fromStdin, nil, "stdin \n"},
	} {
		if got := millraceJS(t, each.stdin, each.args...); got.stdout != each.want || got.status != 0 || got.stderr != "" {
			t.Errorf("%q: %+v", each.args, got)
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, each := range []struct {
		args []string
		want string
	}{
		{[]string{"gone.js"}, "cannot run gone.js: no such file or directory"},
		{[]string{"testdata"}, "cannot run testdata: is a directory"},
		{[]string{"--inspect", "x.js"}, "there is no option --inspect: see millrace-js --help"},
		{[]string{"-e"}, "-e needs code"},
	} {
		got := millraceJS(t, "", each.args...)
		if got.status != 2 || !strings.HasPrefix(got.stderr, "millrace-js: "+each.want) || got.stdout != "" {
			t.Errorf("%q: %+v", each.args, got)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	for _, option := range []string{"-h", "--help"} {
		if got := millraceJS(t, "", option); got.status != 0 || !strings.Contains(got.stdout, "Usage:") || got.stderr != "" {
			t.Errorf("%s: %+v", option, got)
		}
	}
	if got := millraceJS(t, "", "--version"); got.status != 0 || !strings.HasPrefix(got.stdout, "millrace-js ") {
		t.Errorf("%+v", got)
	}
}

func TestInterruptEndsWith130(t *testing.T) {
	for _, code := range []string{`for (;;);`, `setInterval(() => {}, 1000)`} {
		command := command(t, "-e", `console.log("ready"); `+code)
		stdout, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
			t.Error(line)
		}
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		_ = command.Wait()
		if status := command.ProcessState.ExitCode(); status != 130 {
			t.Error("status", status)
		}
	}
}

func TestProcess(t *testing.T) {
	t.Setenv("MILLRACE_JS_TEST_VALUE", "there")
	got := millraceJS(t, "", "-e", `
		const [s, n] = process.hrtime(); const since = process.hrtime([s, n]);
		console.log(since[0] < 600, since[1] >= 0, process.hrtime.bigint() > 0n, performance.now() > 0, process.uptime() > 0);
		console.log(process.env.MILLRACE_JS_TEST_VALUE, process.env.MILLRACE_JS_NOT_THERE, process.cwd() === __dirname);
		console.log(typeof process.pid, typeof process.platform, typeof process.arch, typeof process.versions.goja);
		console.log(global === globalThis, process.execPath === process.argv[0], process.argv[1] === __filename);
		process.stdout.write('written', () => console.log(' and done')); process.stderr.write('');
		const once = () => console.log('never'); process.once('exit', once); process.off('exit', once);
		process.once('twice', () => console.log('once')); process.emit('twice'); process.emit('twice');
		console.log(process.emit('other'), process.on('other', console.log).emit('other', 1, 2));`)
	const want = "true true true true true\nthere undefined true\nnumber string string string\ntrue true true\n" +
		"writtenonce\n1 2\nfalse true\n and done\n"
	if got.stdout != want || got.status != 0 || got.stderr != "" {
		t.Errorf("%+v", got)
	}
}

func TestConsoleTimes(t *testing.T) {
	t.Parallel()
	got := millraceJS(t, "", "-e", `
		console.timeEnd('none'); console.time(); console.timeLog('default', 'so far', 1); console.timeEnd();
		console.timeEnd(); console.time(1); setTimeout(() => console.timeEnd(1), 1010);`)
	want := regexp.MustCompile(`^default: [\d.]+m?s so far 1\ndefault: [\d.]+m?s\n1: \d+\.\d{3}s\n$`)
	if !want.MatchString(got.stdout) || got.status != 0 || got.stderr != "" {
		t.Errorf("%+v", got)
	}
}
