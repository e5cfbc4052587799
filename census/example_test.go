package census_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/oidkit/oid/census"
)

func Example() {
	export := `{"_id":{"$oid":"65f0a0d0a1b2c3d4e5000001"},"n":1}
{"_id":{"$oid":"65f0a0d1a1b2c3d4e5000002"},"n":2}
{"_id":{"$oid":"65f1f250a1b2c3d4e5000004"},"n":3}
{"_id":"seventeen","n":4}
`
	c := census.New(&census.Options{Now: time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)})
	if err := c.Read(context.Background(), "orders.json", strings.NewReader(export)); err != nil {
		fmt.Println(err)
	}
	r, err := c.Report(&census.ReportOptions{By: census.IntervalDay})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.IDs, "ids of", r.Processes, "process, with", r.Gaps, "gap")
	for _, b := range r.Timeline.Buckets {
		fmt.Println(b.Start.Format(time.DateOnly), b.IDs)
	}
	for _, f := range r.Findings {
		fmt.Println(f.Title)
	}
	// Output:
	// 3 ids of 1 process, with 1 gap
	// 2024-03-12 2
	// 2024-03-13 1
	// 1 value is not an ObjectId: 1 string
}
