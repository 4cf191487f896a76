// Package release_test uses the modules as somebody else's project does: by a version from a module proxy, which here is a
// folder, and by a replace directive that names a working copy.
package release_test

import (
	"archive/zip"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// version is what go/goja/go.mod asks for.
const version = "v0.1.0"

// modules are the published ones, by their folders.
var modules = map[string]string{
	"millrace.dev/go":      "../..",
	"millrace.dev/go/goja": "../../goja",
}

const program = `package main

import (
	"context"
	"fmt"

	"millrace.dev/go/batch"
	"millrace.dev/go/eventloop"
)

func main() {
	loop, err := eventloop.New(eventloop.Config{})
	if err != nil {
		panic(err)
	}
	loop.Submit(func() { fmt.Println("a task") })
	if err := loop.Run(context.Background()); err != nil {
		panic(err)
	}
	var _ error = batch.ErrExpired
}
`

const script = `package main

import (
	"fmt"

	"github.com/dop251/goja"
	"millrace.dev/go/goja/eventloop"
)

func main() {
	loop := eventloop.NewEventLoop()
	loop.Run(func(vm *goja.Runtime) {
		value, err := vm.RunString("6 * 7")
		fmt.Println(value, err)
	})
}
`

func TestModuleIsGotByItsVersion(t *testing.T) {
	project := newProject(t, program)
	project.run("get", "millrace.dev/go@"+version)
	if got := project.run("list", "-m", "all"); got != "example.org/project\nmillrace.dev/go "+version {
		t.Errorf("the project needs more than the module:\n%s", got)
	}
	project.run("vet", ".")
	if got := project.run("run", "."); got != "a task" {
		t.Errorf("the program says %q", got)
	}
}

func TestModuleOfGojaIsGotByItsVersion(t *testing.T) {
	project := newProject(t, script)
	project.run("get", "millrace.dev/go/goja/eventloop@"+version)
	if got := project.run("list", "-m", "millrace.dev/go"); got != "millrace.dev/go "+version {
		t.Errorf("goja's own requirement is %s", got)
	}
	// Every package that it imports, also from others, is in a module that it has.
	if got := project.run("list", "-deps", "."); !strings.Contains(got, "github.com/dop251/goja_nodejs/") {
		t.Errorf("it imports\n%s", got)
	}
	if os.Getenv("MILLRACE_COMPILE_GOJA") == "" {
		return // It takes a minute, and nothing of it can be reused.
	}
	if got := project.run("run", "."); got != "42 <nil>" {
		t.Errorf("the program says %q", got)
	}
}

func TestModuleIsFoundByReplace(t *testing.T) {
	project := newProject(t, program)
	folder, err := filepath.Abs("../..")
	check(t, err)
	project.run("mod", "edit", "-require=millrace.dev/go@"+version, "-replace=millrace.dev/go="+folder)
	project.env = append(project.env, "GOPROXY=off")
	if got := project.run("run", "."); got != "a task" {
		t.Errorf("the program says %q", got)
	}
}

func TestEachModuleBringsItsLicense(t *testing.T) {
	for path := range modules {
		project := newProject(t, program)
		folder := project.run("mod", "download", "-json", path+"@"+version)
		_, after, _ := strings.Cut(folder, `"Dir": "`)
		dir, _, _ := strings.Cut(after, `"`)
		if _, err := os.Stat(filepath.Join(dir, "LICENSE")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

type project struct {
	t      *testing.T
	folder string
	env    []string
}

// newProject makes a module of one program, with a cache of modules of its own and a proxy that has ours. Others come from
// what this machine has fetched, so no network is needed.
func newProject(t *testing.T, program string) *project {
	t.Helper()
	folder, proxy := t.TempDir(), t.TempDir()
	for path, from := range modules {
		publish(t, proxy, path, from)
	}
	fetched, err := exec.Command("go", "env", "GOMODCACHE").Output()
	check(t, err)
	p := &project{t, folder, append(os.Environ(),
		"GOPROXY="+asURL(proxy)+","+asURL(filepath.Join(strings.TrimSpace(string(fetched)), "cache", "download")),
		"GOMODCACHE="+t.TempDir(), "GOFLAGS=-modcacherw "+raceFlag(), "GOSUMDB=off", "GONOSUMDB=", "GOPRIVATE=", "GOWORK=off")}
	check(t, os.WriteFile(filepath.Join(folder, "main.go"), []byte(program), 0o644))
	p.run("mod", "init", "example.org/project")
	return p
}

// raceFlag is -race where this test was compiled with it: Go's own packages are compiled so already.
func raceFlag() string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Settings {
		if each.Key == "-race" && each.Value == "true" {
			return "-race"
		}
	}
	return ""
}

// run runs the go command and returns what it prints; the test fails if the command does.
func (p *project) run(args ...string) string {
	p.t.Helper()
	var said strings.Builder
	command := exec.Command("go", args...)
	command.Dir, command.Env, command.Stderr = p.folder, p.env, &said
	out, err := command.Output()
	if err != nil {
		p.t.Fatalf("go %s: %v\n%s%s", strings.Join(args, " "), err, out, said.String())
	}
	return strings.TrimSpace(string(out))
}

// publish lays a module out in a folder as a module proxy has it: what is in its folder, without the modules inside.
func publish(t *testing.T, proxy, path, from string) {
	t.Helper()
	place := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	check(t, os.MkdirAll(place, 0o755))
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	check(t, err)
	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": `{"Version":"` + version + `","Time":"2026-01-01T00:00:00Z"}`,
		version + ".mod":  string(mod),
	} {
		check(t, os.WriteFile(filepath.Join(place, name), []byte(text), 0o644))
	}
	file, err := os.Create(filepath.Join(place, version+".zip"))
	check(t, err)
	defer file.Close()
	archive := zip.NewWriter(file)
	check(t, filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil && name != from {
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(from, name)
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return add(archive, path+"@"+version+"/"+filepath.ToSlash(relative), name)
	}))
	check(t, archive.Close())
}

func add(archive *zip.Writer, name, from string) error {
	to, err := archive.Create(name)
	if err != nil {
		return err
	}
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}

// asURL gives the file URL of an absolute path, also of one that begins with a drive.
func asURL(path string) string {
	return "file:///" + strings.TrimPrefix(filepath.ToSlash(path), "/")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
