// Command generated uses a client that a generator made from the server's OpenAPI
// description: the package api in this folder, which the test generates. It is a
// module of its own, which keeps the runtime of the generator out of oid's go.mod.
//
// Its argument is the URL of the server. It creates ids, inspects one, and registers
// a process.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/oidkit/oid/internal/testenv/generated/api"
)

func main() {
	log.SetFlags(0)
	c, err := api.NewClientWithResponses(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	count := int64(1000)
	made, err := c.CreateIDsWithResponse(ctx, nil, api.NewIDs{Count: &count})
	if err != nil || made.JSON200 == nil {
		log.Fatalf("create ids: %v %s", err, made.Body)
	}
	ids := made.JSON200.Ids
	inspected, err := c.InspectIDWithResponse(ctx, ids[0], nil)
	if err != nil || inspected.JSON200 == nil {
		log.Fatalf("inspect: %v %s", err, inspected.Body)
	}
	key := "a-random-text-of-16-to-200-characters"
	registered, err := c.RegisterProcessWithResponse(ctx, &api.RegisterProcessParams{IdempotencyKey: &key}, api.Registration{Name: "generated", Pid: 7})
	if err != nil || registered.JSON201 == nil {
		log.Fatalf("register: %v %s", err, registered.Body)
	}
	fmt.Println(len(ids), ids[0] == inspected.JSON200.Id, inspected.JSON200.Trace.Verdict, len(*registered.JSON201.ProcessBlock))
}
