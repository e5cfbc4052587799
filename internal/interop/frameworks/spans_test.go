package frameworks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/oidkit/oid/internal/testenv"
	"github.com/oidkit/oid/lock"
	"github.com/oidkit/oid/lock/redislock"
)

// The waits and leases of a request are spans of its trace, with their times.
func TestSpans(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tracer := sdk.NewTracerProvider(sdk.WithSyncer(exporter)).Tracer("test")
	server := testenv.Redis(t)
	open := func(ttl time.Duration) lock.Locker {
		l := testenv.Must(redislock.Open(t.Context(), server.URL(), &redislock.Options{TTL: ttl, Events: spansOf(tracer)}))(t)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	a, b := open(time.Minute), open(time.Minute)
	const held = 200 * time.Millisecond
	first := testenv.Must(a.Acquire(t.Context(), "report", nil))(t)
	request, root := tracer.Start(t.Context(), "request")
	_, refused := b.TryAcquire(request, "report", nil)
	testenv.WantError(t, "TryAcquire", refused, lock.ErrHeld)
	time.AfterFunc(held, func() { _ = first.Release() })
	second := testenv.Must(b.Acquire(request, "report", nil))(t)
	time.Sleep(held)
	testenv.NoError(t, second.Release())
	root.End()
	want := map[string]time.Duration{"lock.wait fence 0": 0, fmt.Sprint("lock.wait fence ", second.Fence()): held / 2, fmt.Sprint("lock.hold fence ", second.Fence()): held}
	for _, span := range exporter.GetSpans() {
		if span.SpanContext.TraceID() != root.SpanContext().TraceID() || span.Name == "request" {
			continue
		}
		name := span.Name + " fence " + span.Attributes[1].Value.Emit()
		least, wanted := want[name]
		delete(want, name)
		if took := span.EndTime.Sub(span.StartTime); !wanted || took < least || span.Parent.SpanID() != root.SpanContext().SpanID() || span.Attributes[0].Value.AsString() != "report" || span.Status.Code != codes.Unset {
			t.Errorf("%s took %v, %+v: not wanted, or shorter than %v, or not below the request", name, took, span.Status, least)
		}
	}
	if len(want) > 0 {
		t.Errorf("no spans %v", want)
	}

	exporter.Reset()
	lease := testenv.Must(open(200*time.Millisecond).Acquire(context.Background(), "other", nil))(t)
	server.Kill()
	<-lease.Context().Done()
	lost := func(span tracetest.SpanStub) bool {
		return span.Name == "lock.hold" && span.Status.Code == codes.Error && strings.Contains(span.Status.Description, "expired")
	}
	for began := time.Now(); !slices.ContainsFunc(exporter.GetSpans(), lost); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("no span of a lost lease in %v", exporter.GetSpans())
		}
	}
}
