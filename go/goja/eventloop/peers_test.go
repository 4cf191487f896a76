package eventloop_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
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
	output := run(t, "go", append(args, ".")...)
	for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(source), -1) {
		if passed := regexp.MustCompile(`(?m)^--- PASS: ` + test[1] + ` `); !passed.MatchString(output) {
			t.Errorf("%s has not passed:\n%s", test[1], output)
		}
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
