package objectid_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/oidkit/oid/objectid"
)

func Example() {
	id := objectid.New()
	fmt.Println(len(id.String()), time.Since(id.Time()) < time.Minute)

	ids := make([]objectid.ID, 1000)
	objectid.Fill(ids)
	fmt.Println(ids[999].Compare(ids[0]) > 0, ids[0].Compare(id) > 0)
	// Output:
	// 24 true
	// true true
}

func ExampleParse() {
	id, err := objectid.Parse("507f1f77bcf86cd799439011")
	fmt.Println(id.Time(), err)

	_, err = objectid.Parse("507f1f77bcf86cd79943901g")
	fmt.Println(err)
	// Output:
	// 2012-10-17 21:13:27 +0000 UTC <nil>
	// objectid: invalid id: character 24 is 'g', want a hexadecimal digit: "507f1f77bcf86cd79943901g"
}

func ExampleBetween() {
	november := objectid.Between(
		time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
	)
	fmt.Println(november.From, november.To)
	fmt.Println(november.Contains(objectid.MustParse("6aff0a8b8f1d9cb5d01a2b3c")))
	// Output:
	// 6ae681000000000000000000 6b0e0e000000000000000000
	// true
}

func ExampleRange_SQL() {
	where, args := objectid.Since(time.Unix(1_800_000_000, 0)).SQL("id", 1)
	fmt.Println("SELECT * FROM orders WHERE "+where, args)
	// Output: SELECT * FROM orders WHERE id >= $1 [6b49d2000000000000000000]
}

func ExampleNewGenerator() {
	// Ids as MongoDB's drivers made them until 2018, at a given time.
	g, err := objectid.NewGenerator(&objectid.Options{
		Layout: objectid.Classic,
		Now:    func() time.Time { return time.Unix(1_500_000_000, 0) },
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(g.New().Time())
	// Output: 2017-07-14 02:40:00 +0000 UTC
}

func ExampleID_UnmarshalJSON() {
	var doc struct {
		ID objectid.ID `json:"_id"`
	}
	for _, s := range []string{`{"_id":"507f1f77bcf86cd799439011"}`, `{"_id":{"$oid":"507f1f77bcf86cd799439011"}}`, `{"_id":null}`} {
		err := json.Unmarshal([]byte(s), &doc)
		fmt.Println(doc.ID, doc.ID.IsZero(), err)
	}
	// Output:
	// 507f1f77bcf86cd799439011 false <nil>
	// 507f1f77bcf86cd799439011 false <nil>
	// 000000000000000000000000 true <nil>
}
