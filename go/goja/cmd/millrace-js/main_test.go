package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"millrace.dev/go/internal/leak"
)

// The test binary is the command itself when this is in its environment.
const beCommand = "MILLRACE_JS_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(beCommand) != "" {
		main()
		os.Exit(0)
	}
	leak.Main(m)
}

type result struct {
	stdout, stderr string
	status         int
}

// millraceJS runs the command.
func millraceJS(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	return execute(t, command(t, args...), stdin)
}

func command(t *testing.T, args ...string) *exec.Cmd {
	command := exec.CommandContext(t.Context(), os.Args[0], args...)
	// The race detector would sleep for a second at each exit.
	command.Env = append(os.Environ(), beCommand+"=1", "GORACE=atexit_sleep_ms=0")
	return command
}

func execute(t *testing.T, command *exec.Cmd, stdin string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}
