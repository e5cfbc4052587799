// Command openapi holds HTTP exchanges to an OpenAPI description, for tests. It is
// a module of its own so that the validator stays out of oid's go.mod.
//
// Its argument is the description. It reads one exchange as JSON from each line of
// standard input, and writes what is wrong with the description or with an
// exchange. Its exit code is 1 if anything is.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	failures "github.com/pb33f/libopenapi-validator/errors"
)

// exchange is a request and its answer.
type exchange struct {
	Method, URL    string
	RequestHeader  http.Header
	Request        []byte
	Status         int
	ResponseHeader http.Header
	Response       []byte
	// BadRequest says that the request breaks the description on purpose.
	BadRequest bool
}

func main() {
	log.SetFlags(0)
	description, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	doc, err := libopenapi.NewDocument(description)
	if err != nil {
		log.Fatal(err)
	}
	v, errs := validator.NewValidator(doc)
	if len(errs) > 0 {
		log.Fatal(errors.Join(errs...))
	}
	bad := false
	report := func(what string, found []*failures.ValidationError) {
		for _, f := range found {
			bad = true
			fmt.Printf("%s: %s: %s\n", what, f.Message, f.Reason)
			for _, s := range f.SchemaValidationErrors {
				fmt.Printf("    %s: %s\n", s.FieldPath, s.Reason)
			}
		}
	}
	if ok, found := v.ValidateDocument(); !ok {
		report("the description", found)
	}
	n := 0
	for d := json.NewDecoder(os.Stdin); ; n++ {
		var e exchange
		if err := d.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		what := fmt.Sprintf("%s %s %s -> %d", e.Method, e.URL, e.Request, e.Status)
		request, err := http.NewRequest(e.Method, e.URL, bytes.NewReader(e.Request))
		if err != nil {
			log.Fatal(err)
		}
		request.Header = e.RequestHeader
		if !e.BadRequest {
			if ok, found := v.ValidateHttpRequest(request); !ok {
				report(what+": request", found)
			}
			request.Body = io.NopCloser(bytes.NewReader(e.Request))
		}
		response := &http.Response{StatusCode: e.Status, Header: e.ResponseHeader, Body: io.NopCloser(bytes.NewReader(e.Response)), Request: request}
		if ok, found := v.ValidateHttpResponse(request, response); !ok {
			report(what+": response", found)
			fmt.Printf("    %.300s\n", e.Response)
		}
	}
	fmt.Printf("%d exchanges\n", n)
	if bad {
		os.Exit(1)
	}
}
