package server

import (
	"github.com/oidkit/oid/internal/plot"
	"github.com/oidkit/oid/registry"
)

// cpuPoints are the processors in use between samples.
func cpuPoints(samples []registry.Sample) []plot.Point {
	var out []plot.Point
	for i := 1; i < len(samples); i++ {
		out = append(out, plot.Point{Time: samples[i].Time, Value: registry.Processors(samples[i-1], samples[i])})
	}
	return out
}

func memoryPoints(samples []registry.Sample) []plot.Point {
	out := make([]plot.Point, len(samples))
	for i, s := range samples {
		out[i] = plot.Point{Time: s.Time, Value: float64(s.RSS)}
	}
	return out
}
