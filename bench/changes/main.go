// Command changes lists the ratios of docs/benchmarks.md that differ from those of the
// page in the last commit by more than noise.
package main

import (
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/oidkit/oid/bench/page"
)

func main() {
	log.SetFlags(0)
	old, err := exec.Command("git", "show", "HEAD:docs/benchmarks.md").Output()
	if err != nil {
		log.Fatalf("git show: %v", err)
	}
	now, err := os.ReadFile("../docs/benchmarks.md")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(page.Changes(string(old), string(now)))
}
