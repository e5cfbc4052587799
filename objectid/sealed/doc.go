// Package sealed turns ObjectIds into public ids and back, under a key. A sealed id shows
// neither the time nor the process of its id, and cannot be guessed from others. Begin with
// [New].
//
// # Design
//
// Sealing is deterministic and needs no state: an id has one sealed id for a kind, a form
// and a key. The keys of the ciphers come from the [Key] by HKDF-SHA-256 without a salt and
// with the info "oid sealed id v1 FORM:KIND", so a sealed id opens only under the kind and
// the form under which it was sealed.
//
//	Short  AES-256(id || 00000000)                                         16 bytes
//	UUID   AES-256(id[0:6] || 80008000 || id[6:12]), encrypted again until
//	       the result has the version 8 and the variant of RFC 9562        16 bytes
//	Long   AES-SIV (RFC 5297) with two keys of 256 bits and without
//	       associated data: the tag, then 12 bytes                         28 bytes
//
// A block cipher is a permutation that looks random, so of 2^32 forged Short ids one opens
// on average, of 2^26 forged UUIDs one, and of 2^128 forged Long ids one; and the id in it
// is a random one, which hardly exists. Encrypting again until the result fits, which is
// called cycle walking, is a permutation of the UUIDs. It takes 64 steps on average. Their
// number depends on the sealed id, and says nothing of the key or of the id.
//
// To open takes the same work for each forged id and whichever key opens it, but for the
// steps of a walk. AES takes the same time for all data if the processor has instructions for
// it, as on amd64 and arm64; elsewhere Go's AES reads tables.
//
// # What it does not do
//
// A sealed id is not a permission: who has it can pass it on and use it again. Equal ids
// have equal sealed ids. Whoever has the key reads all of them, and without the key nobody
// does: it must be kept as long as a sealed id is in use.
package sealed
