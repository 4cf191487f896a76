// Command undocumented prints the exported names of Go packages that have no doc comment, one a line: FOLDER: NAME. Fields and
// methods of interfaces are left out: the comment of their type may say it.
package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
)

func main() {
	for _, folder := range os.Args[1:] {
		files := token.NewFileSet()
		isSource := func(info fs.FileInfo) bool { return !strings.HasSuffix(info.Name(), "_test.go") }
		packages, err := parser.ParseDir(files, folder, isSource, parser.ParseComments)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for name, parsed := range packages {
			report(folder, name, doc.New(parsed, folder, 0))
		}
	}
}

func report(folder, name string, docs *doc.Package) {
	say := func(what, comment string) {
		if comment == "" {
			fmt.Printf("%s: %s\n", folder, what)
		}
	}
	say("package "+name, docs.Doc)
	values := func(all []*doc.Value) {
		for _, group := range all {
			for _, spec := range group.Decl.Specs {
				of := spec.(*ast.ValueSpec)
				for _, each := range of.Names {
					if each.IsExported() {
						say(each.Name, group.Doc+of.Doc.Text()+of.Comment.Text())
					}
				}
			}
		}
	}
	functions := func(prefix string, all []*doc.Func) {
		for _, each := range all {
			say(prefix+each.Name, each.Doc)
		}
	}
	values(docs.Consts)
	values(docs.Vars)
	functions("", docs.Funcs)
	for _, each := range docs.Types {
		say(each.Name, each.Doc)
		values(each.Consts)
		values(each.Vars)
		functions("", each.Funcs)
		functions(each.Name+".", each.Methods)
	}
}
