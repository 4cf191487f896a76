package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAllVectorsCanBeRead(t *testing.T) {
	all, err := ReadAll(vectorsFolder)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 531 {
		t.Errorf("%d vectors; there were 531", len(all))
	}
	for _, vector := range all {
		if vector.Name == "" || len(vector.Statements) == 0 {
			t.Errorf("%s is empty", vector.File)
		}
	}
	if _, err := ReadAll(t.TempDir() + "/nowhere"); err == nil {
		t.Error("a folder that is not there was read")
	}
}

func TestAVector(t *testing.T) {
	const text = "# a name \r\n" +
		"config policy=fixed max_delay=2.5\n\n" +
		"at 1.5\tpush work a low bytes=7\n" +
		"# a comment\n" +
		"from a set work retain=each retain_max=3\n" +
		"from a busy 10\n" +
		"busy 0.25\n" +
		"at 2\n" +
		"expect 1.5 size a\n" +
		"held a\n" +
		"stats queued=0 wait.low=0.5"
	v, err := Read(text, "x.vec")
	if err != nil {
		t.Fatal(err)
	}
	if v.Name != "a name" || len(v.Statements) != 9 {
		t.Fatalf("got %+v", v)
	}
	at, from, expect := v.Statements[1], v.Statements[2], v.Statements[6]
	if at.Line != 4 || at.Time != 1500*time.Microsecond || at.Inner.Class != "low" || at.Inner.Bytes != 7 {
		t.Errorf("got %+v", at)
	}
	if from.ID != "a" || from.Inner.Type != "work" || from.Inner.Pairs[1] != (Pair{"retain_max", "3", 3}) {
		t.Errorf("got %+v", from)
	}
	if expect.Trigger != "size" || len(expect.IDs) != 1 || expect.IDs[0] != "a" {
		t.Errorf("got %+v", expect)
	}
}

func TestMalformedVectors(t *testing.T) {
	cases := []struct{ text, sentence string }{
		{"", "first line must be a comment"},
		{"turn", "first line must be a comment"},
		{"#  ", "first line must be a comment"},
		{"# x\npull a b", "unknown word 'pull'"},
		{"# x\nTurn", "unknown word 'Turn'"},
		{"# x\nturn now", "'now' is one word too many"},
		{"# x\nturn\nconfig order=type", "'config' must come before"},
		{"# x\nconfig order=type\nconfig order=type", "'config' must come before"},
		{"# x\nconfig", "a key=value is missing"},
		{"# x\nconfig order", "not of the form"},
		{"# x\nconfig =type", "not of the form"},
		{"# x\nconfig order=", "not of the form"},
		{"# x\nconfig order=type=x", "not of the form"},
		{"# x\nconfig colour=red", "unknown key 'colour'"},
		{"# x\nconfig order=size", "unknown order 'size'"},
		{"# x\nconfig order=type order=type", "twice"},
		{"# x\nconfig max_batch=1.5", "a whole number"},
		{"# x\nconfig max_batch=1e3", "a whole number"},
		{"# x\nconfig max_delay=0x1", "a decimal number"},
		{"# x\nconfig max_delay=.5", "a decimal number"},
		{"# x\nconfig max_delay=NaN", "a decimal number"},
		{"# x\nconfig max_queue_bytes=9999999999999999", "a whole number"},
		{"# x\nconfig priority=low", "unknown key 'priority'"},
		{"# x\nset work policy=fixed", "unknown key 'policy'"},
		{"# x\nadvance", "a word is missing"},
		{"# x\nadvance -1", "at least 0"},
		{"# x\nadvance 5\nat 4", "time runs backwards"},
		{"# x\nat 1 at 2", "unknown operation after 'at T'"},
		{"# x\nat 1 from", "a word is missing"},
		{"# x\npush a b\nfrom b", "no operation"},
		{"# x\npush a b\nfrom b turn", "unknown operation after 'from ID'"},
		{"# x\npush a", "a word is missing"},
		{"# x\npush a b urgent", "unknown class 'urgent'"},
		{"# x\npush a b bytes=-1", "at least 0"},
		{"# x\npush a b bytes=1 low", "one word too many"},
		{"# x\npush a b key=", "is no key"},
		{"# x\npush a b key=k bytes=1", "one word too many"},
		{"# x\npush a b\npush a b", "pushed twice"},
		{"# x\npush a/b c", "is no type"},
		{"# x\npush a ü", "is no ID"},
		{"# x\ncancel b", "unknown ID 'b'"},
		{"# x\nexpect 0 turn b", "no operation before it"},
		{"# x\npush a b\nexpect 0 soon b", "unknown trigger 'soon'"},
		{"# x\npush a b\nexpect 0 turn", "a word is missing"},
		{"# x\npush a b\nerror b b", "one word too many"},
		{"# x\npush a b\nrefused b full", "unknown code 'full'"},
		{"# x\npush a b\nrefused b invalid", "unknown key 'b'"},
		{"# x\nclose now", "unknown way to close 'now'"},
		{"# x\nsignal work utilization=1", "unknown key 'utilization'"},
		{"# x\nsignal utilization=1.5", "within 0 and 1"},
		{"# x\nsignal event_cost=1", "unknown key 'event_cost'"},
		{"# x\nsignal limit=1", "unknown key 'limit'"},
		{"# x\nestimate limit=1.5", "a whole number"},
		{"# x\nsignal batch_cost=-1", "at least 0"},
		{"# x\nestimate rate=1", "unknown key 'rate'"},
		{"# x\nestimate work total=1", "unknown key 'total'"},
		{"# x\nstats wait.low=-1", "at least 0"},
		{"# x\nstats queue=1", "unknown key 'queue'"},
	}
	for _, c := range cases {
		_, err := Read(c.text, "x.vec")
		var malformed *Error
		if !errors.As(err, &malformed) || !strings.Contains(err.Error(), c.sentence) ||
			!strings.HasPrefix(err.Error(), "x.vec:") {
			t.Errorf("%q: want %q, got %v", c.text, c.sentence, err)
		}
	}
}

// FuzzVector: any text is a vector or an *Error with a line of it; what was read has what a runner needs.
func FuzzVector(f *testing.F) {
	files, err := filepath.Glob(vectorsFolder + "/*/*.vec")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Read(text, "fuzz.vec")
		if err != nil {
			var malformed *Error
			if !errors.As(err, &malformed) || malformed.Line < 1 || malformed.Line > strings.Count(text, "\n")+1 {
				t.Errorf("the error is %v", err)
			}
			return
		}
		for _, s := range v.Statements {
			if s.Line < 2 || s.Time < 0 || s.Bytes < 0 || (s.Word == "from") != (s.Inner != nil) && s.Word != "at" {
				t.Errorf("%q became %+v", strings.Split(text, "\n")[s.Line-1], s)
			}
		}
	})
}
