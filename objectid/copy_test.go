package objectid

// copyOf returns a generator with the state of g, as the copy of a running machine has
// it.
func copyOf(g *Generator) *Generator {
	c := &Generator{
		now: g.now, given: g.given, base: g.base, prefix: g.prefix, mask: g.mask, counter: g.counter, bits: g.bits, machine: g.machine,
		reseeding: reseeding{options: g.reseeding.options, shared: g.reseeding.shared},
	}
	c.recheck.Store(g.recheck.Load())
	c.value.Store(g.value.Load())
	c.reset.Store(g.reset.Load())
	c.state.Store(g.state.Load())
	c.generation.Store(g.generation.Load())
	c.reseeding.drift.Store(g.reseeding.drift.Load())
	c.reseeding.checked.Store(g.reseeding.checked.Load())
	return c
}
