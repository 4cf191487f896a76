package engine

import (
	"os"
	"path/filepath"
	"testing"
)

const vectorsFolder = "../../../../conformance/vectors"

// TestVectors runs every conformance vector; none is left out.
func TestVectors(t *testing.T) {
	folder := vectorsFolder
	if other := os.Getenv("MILLRACE_VECTORS"); other != "" {
		folder = other
	}
	all, err := ReadAll(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 531 {
		t.Fatalf("%d vectors in %s; there were 531", len(all), folder)
	}
	for _, vector := range all {
		t.Run(filepath.ToSlash(vector.File), func(t *testing.T) {
			if err := runVector(vector); err != nil {
				t.Errorf("%s: %v", vector.Name, err)
			}
		})
	}
}
