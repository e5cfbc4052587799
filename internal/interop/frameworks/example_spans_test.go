package frameworks

import (
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/oidkit/oid/lock"
)

// spansOf returns a function for Options.Events.
func spansOf(tracer trace.Tracer) func(lock.Event) {
	names := map[lock.EventKind]string{
		lock.EventAcquired: "lock.wait", lock.EventFailed: "lock.wait",
		lock.EventReleased: "lock.hold", lock.EventLost: "lock.hold",
	}
	return func(e lock.Event) {
		if names[e.Kind] == "" {
			return
		}
		end := time.Now()
		_, span := tracer.Start(e.Context, names[e.Kind], trace.WithTimestamp(end.Add(-e.Took)),
			trace.WithAttributes(attribute.String("lock.name", e.Name), attribute.Int64("lock.fence", int64(e.Fence))))
		if e.Err != nil && !errors.Is(e.Err, lock.ErrHeld) {
			span.SetStatus(codes.Error, e.Err.Error())
		}
		span.End(trace.WithTimestamp(end))
	}
}
