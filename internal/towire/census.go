package towire

import (
	"time"

	"github.com/oidkit/oid/census"
	"github.com/oidkit/oid/internal/each"
	"github.com/oidkit/oid/server/wire"
)

// Census converts r.
func Census(r *census.Report) wire.Census {
	return wire.Census{
		Version: wire.CensusVersion, CollectionCensus: collectionCensus(r), Collections: each.Of(r.Collections, collectionCensus),
	}
}

func collectionCensus(r *census.Report) wire.CollectionCensus {
	out := wire.CollectionCensus{
		Collection: r.Collection, Field: r.Field, ReferenceTime: r.ReferenceTime, Sources: each.Of(r.Sources, censusSource),
		IDs: r.IDs, DistinctIDs: r.Distinct, RepeatedIDs: r.Repeated, OutsideIDs: r.Outside,
		Others: each.Of(r.Others, otherValues), WithoutField: r.Without,
		First: r.First, Last: r.Last,
		Timeline: wire.Timeline{
			By: string(r.Timeline.By), Zone: r.Timeline.Zone, Beyond: r.Timeline.Beyond,
			Buckets: each.Of(r.Timeline.Buckets, func(b census.Bucket) wire.Bucket { return wire.Bucket(b) }),
		},
		Processes: r.Processes, Gaps: r.Gaps, TopProcesses: each.Of(r.TopProcesses, censusProcess),
		Doubts: each.Of(r.Doubts, doubt), Events: each.Of(r.Events, event), Deploys: each.Of(r.Deploys, event),
		ShortestOutageBusy: optionalSeconds(r.ShortestOutage[0]), ShortestOutageQuiet: optionalSeconds(r.ShortestOutage[1]),
	}
	if r.IDs > 0 || len(r.Findings) > 0 {
		out.Findings = each.Of(r.Findings, finding)
	}
	if r.Elections.IDs > 0 {
		out.Elections = new(wire.Elections(r.Elections))
	}
	if u := r.Unjudged; u != nil {
		out.Unjudged = &wire.Unjudged{Looked: u.Looked, First: u.First, Text: u.String(), Elsewhere: each.Of(u.Elsewhere, func(e census.Elsewhere) wire.Elsewhere {
			return wire.Elsewhere(e)
		})}
	}
	return out
}

func optionalSeconds(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return new(d.Seconds())
}

func event(e census.Event) wire.Event {
	out := wire.Event{
		Kind: string(e.Kind), Start: e.Start, End: e.End, Share: e.Share, ProcessValue: e.Process, Usual: e.Usual, Confidence: string(e.Confidence),
		Service: e.Service, Version: e.Version,
	}
	switch e.Kind {
	case census.KindOutage, census.KindImport, census.KindDeletion:
		out.IDs = e.Size
	case census.KindClockStep:
		out.StepSeconds = e.Size
	}
	return out
}

// Difference converts d.
func Difference(d *census.Difference) wire.Difference {
	return wire.Difference{
		Version: wire.CensusVersion, Field: d.Field, A: side(d.A), B: side(d.B), BothIDs: d.Both, RetypedIDs: d.Retyped,
	}
}

func side(s census.Side) wire.Side {
	return wire.Side{
		Sources: each.Of(s.Sources, censusSource), DistinctIDs: s.Distinct,
		OnlyIDs: s.Only, First: s.First, Last: s.Last, Examples: each.Of(s.Examples, findingExample), OtherValues: s.Others,
	}
}

func censusSource(s *census.Source) wire.CensusSource {
	return wire.CensusSource{
		Name: s.Name, Collection: s.Collection, Collections: s.Collections, Format: string(s.Format),
		Unit: s.Unit, Units: s.Units, IDs: s.IDs, Others: s.Others, Without: s.Without, Broken: s.Broken,
		Problems: each.Of(s.Problems, func(p census.Problem) wire.UnreadablePlace {
			return wire.UnreadablePlace{Position: position(p.Position), Error: p.Error}
		}),
		Error: s.Error,
	}
}

func otherValues(o census.Other) wire.OtherValues {
	return wire.OtherValues{Type: o.Type, Values: o.Count, Examples: each.Of(o.Examples, func(v census.Value) wire.ExampleValue {
		return wire.ExampleValue{Position: position(v.Position), Text: v.Text}
	})}
}

func censusProcess(p census.Process) wire.CensusProcess {
	out := wire.CensusProcess{
		ProcessValue: p.Value, Name: p.Name, ProcessValues: p.Values, IDs: p.IDs, First: p.First, Last: p.Last,
		ClockStepped: p.Has(census.KindClockStep), Shared: p.Has(census.KindSharedValue), Resumed: p.Has(census.KindResumed), NoSequence: p.Has(census.KindNoSequence), Doubt: string(p.Doubt),
		Timeline: each.Of(p.Timeline, func(n int64) int64 { return n }),
	}
	if p.HasGaps() {
		out.Gaps, out.Jumps = &p.Gaps, &p.Jumps
	}
	return out
}

func finding(f census.Finding) wire.Finding {
	return wire.Finding{Kind: string(f.Kind), Count: f.Count, Counts: f.Kind.Counts(), Title: f.Title, Reason: f.Reason, Evidence: f.Evidence, Examples: each.Of(f.Examples, findingExample)}
}

func doubt(d census.Doubt) wire.Doubt {
	return wire.Doubt{Kind: string(d.Kind), Processes: d.Processes, Reason: d.Reason, Examples: each.Of(d.Examples, findingExample)}
}

func findingExample(e census.Example) wire.FindingExample {
	return wire.FindingExample{ID: e.ID.String(), Time: e.Time, Position: position(e.Position), Note: e.Note}
}

func position(p census.Position) wire.Position { return wire.Position(p) }
