package report_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/oidkit/oid/internal/report"
	"github.com/oidkit/oid/internal/testenv"
)

// TestPicture holds that the picture in the documents is the timeline of the story. With
// OID_WRITE_GENERATED=1, as in "make generated", it draws it.
func TestPicture(t *testing.T) {
	testenv.WithoutRace(t)
	const file = "../../docs/census.svg"
	var drawing strings.Builder
	if err := report.WritePlot(&drawing, storyReport(t)); err != nil {
		t.Fatal(err)
	}
	if os.Getenv("OID_WRITE_GENERATED") == "1" {
		if err := os.WriteFile(file, []byte(drawing.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// Elsewhere the story differs in the last digits of what is random.
	if runtime.GOARCH == "amd64" && string(got) != drawing.String() {
		t.Errorf("%s is not up to date; run make generated", file)
	}
}
