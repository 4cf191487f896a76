package eventloop_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	_ "go.uber.org/goleak" // what the suite of goja_nodejs imports
)

// The suite of goja_nodejs runs unchanged in the place of our own: an overlay puts its file into this package and takes
// the others out.
func TestSuiteOfGojaNodejs(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := run(t, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/dop251/goja_nodejs")
	suite := filepath.Join(dir[:len(dir)-1], "eventloop", "eventloop_test.go")
	source, err := os.ReadFile(suite)
	if err != nil {
		t.Fatal(err)
	}

	replace := map[string]string{}
	own, err := filepath.Glob(filepath.Join(here, "*_test.go"))
	if err != nil || len(own) == 0 {
		t.Fatal("no tests in", here, err)
	}
	for _, file := range own {
		replace[file] = ""
	}
	replace[filepath.Join(here, "peer_eventloop_test.go")] = suite
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}

	args := []string{"test", "-overlay", file, "-v", "-vet=off", "-count=1", "-timeout=400s", "-parallel=32"}
	if raceEnabled() {
		args = append(args, "-race")
	}
	var tests []string
	for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(source), -1) {
		tests = append(tests, test[1])
	}
	// Some of them give a timer a second more than its delay, which on a busy machine may be too little: those run again.
	for tries := 5; ; tries-- {
		chosen := "-run=^(" + strings.Join(tests, "|") + ")$"
		output, err := exec.Command("go", append(args, chosen, ".")...).CombinedOutput()
		var missing []string
		for _, test := range tests {
			if passed := regexp.MustCompile(`(?m)^--- PASS: ` + test + ` `); !passed.Match(output) {
				missing = append(missing, test)
			}
		}
		if err == nil && len(missing) == 0 {
			return
		}
		if tries == 1 || len(missing) == 0 || bytes.Contains(output, []byte("DATA RACE")) {
			t.Fatalf("%v have not passed: %v\n%s", missing, err, output)
		}
		tests = missing
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, output)
	}
	return string(output)
}

func raceEnabled() bool {
	info, _ := debug.ReadBuildInfo()
	for _, setting := range info.Settings {
		if setting.Key == "-race" {
			return setting.Value == "true"
		}
	}
	return false
}
