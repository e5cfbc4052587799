package gpid_test

import (
	"fmt"
	"os"

	"github.com/oidkit/oid/gpid"
)

func ExampleParse() {
	g, err := gpid.Parse("[2001:db8::1]:8080:1795166651598985:4711")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("dial ", g.Addr())
	fmt.Println("since", g.Start().Format("2006-01-02 15:04:05.000000"))
	fmt.Println("pid  ", g.PID())
	// Output:
	// dial  [2001:db8::1]:8080
	// since 2026-11-20 09:24:11.598985
	// pid   4711
}

func ExampleSelf() {
	g, err := gpid.Self("127.0.0.1:8080")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.Addr(), g.PID() == os.Getpid())
	// Output: 127.0.0.1:8080 true
}

func ExampleGPID_Compare() {
	before := gpid.MustParse("10.0.0.7:8080:1795166651598985:1")
	after := gpid.MustParse("10.0.0.7:8080:1795166652104377:1")
	fmt.Println(before == after, before.Compare(after))
	// Output: false -1
}
