// Command otel is a service that creates ids and is instrumented with OpenTelemetry. The
// attribute service.instance.id of its telemetry is the instance id that "oid trace" shows for its
// ids, so that an id leads to the telemetry of the process that created it.
package main

import (
	"context"
	"fmt"
	"os"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/store/sqlitestore"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run prints an id and the resource of the SDK. path is that of the registry.
func run(ctx context.Context, path string) error {
	s, err := sqlitestore.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	m, err := registry.New(s, nil).Register(ctx, nil) // named by OTEL_SERVICE_NAME
	if err != nil {
		return err
	}
	defer m.End(ctx, "done")

	self := m.Process()
	r, err := resource.New(ctx, resource.WithFromEnv(), resource.WithAttributes(
		attribute.String("service.instance.id", self.InstanceID()), // the line that connects both
	))
	if err != nil {
		return err
	}
	provider := trace.NewTracerProvider(trace.WithResource(r))
	defer provider.Shutdown(ctx)

	fmt.Println(m.Generator().New())
	for _, a := range r.Attributes() {
		fmt.Printf("%s=%s\n", a.Key, a.Value.String())
	}
	return nil
}
