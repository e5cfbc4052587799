package server

import (
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/registry"
	"github.com/oidkit/oid/server/page"
)

// loadSeries returns the numbers that were measured in samples, over time.
func loadSeries(samples []registry.Sample) (out []page.Series) {
	for _, f := range registry.LoadFields {
		s := page.Series{Title: f.Title, Points: make([]plot.Point, len(samples))}
		measured := false
		for i := range samples {
			v := float64(*f.Of(&samples[i].Load))
			switch f.Unit {
			case registry.Nanoseconds:
				s.Title, s.Unit, v = "processors", page.Processors, -1
				if i > 0 {
					v = registry.Processors(samples[i-1], samples[i])
				}
			case registry.Bytes:
				s.Unit = page.Bytes
			}
			s.Points[i] = plot.Point{Time: samples[i].Time, Value: v}
			measured = measured || v >= 0
		}
		if measured {
			out = append(out, s)
		}
	}
	return out
}
