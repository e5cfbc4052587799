package census_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/report"
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
	if err := report.WriteText(os.Stdout, r, report.Screen{Columns: 70, ASCII: true}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// orders.json: json, 4 lines, 3 ids
	//
	// created     2024-03-12 18:37:04 to 2024-03-13 18:37:04 UTC (1d)
	// ids         3 ObjectIds
	// others      1 string, for example "seventeen" (orders.json: line 4)
	// processes   1
	//
	// findings: 1
	// ! 1 value of another type beside the ObjectIds: 1 string
	//   A query for one type never matches the other, and they are sorted
	//   apart. Find the program that writes them.
	//
	// ids by day, UTC
	// 2024-03-12 2 ########################################################
	// 2024-03-13 1 ############################
	//
	// processes
	// process    ids first      last       gaps
	// a1b2c3d4e5   3 2024-03-12 2024-03-13    1
}
