package phrase

// Memo remembers texts that are often needed again, such as that of a time which many ids
// share. The zero value is ready to use, by one goroutine.
type Memo[K comparable] struct {
	known [32]struct {
		key  K
		text []byte
	}
}

// Append appends to b what write appends for key, which is not empty. It calls write only if
// the last key with the same slot was another one. A slot is any number, best one that
// differs between keys.
func (m *Memo[K]) Append(b []byte, slot int, key K, write func(b []byte, key K) []byte) []byte {
	e := &m.known[uint(slot)%uint(len(m.known))]
	if len(e.text) == 0 || e.key != key {
		e.key, e.text = key, write(e.text[:0], key)
	}
	return append(b, e.text...)
}
