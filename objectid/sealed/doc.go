// Package sealed turns ObjectIds into public ids and back, under a secret key.
//
// An ObjectId in a URL shows when its document was created, and lets others guess the
// neighbouring ids. A sealed id shows neither the time nor the process of its id, and cannot
// be guessed from other sealed ids. Documents keep their _id, and nothing is stored.
//
// Start with [ParseKey], which reads the key, and [New], which returns a [Sealer] for the
// ids of one kind, such as orders. [Sealer.Seal] and [Sealer.Open] do the rest.
//
// # Format
//
// A sealed id is one block of AES-256, which encrypts the 12 bytes of the id and 4 zero
// bytes. As text it has 22 characters: base64url (RFC 4648, section 5) without padding.
// The key of AES is derived from the [Key] and the kind by HKDF-SHA-256 (RFC 5869) without
// a salt, with the info "oid sealed id v1 KIND". So a sealed id opens only under the kind
// under which it was sealed. Opening decrypts the block and checks the 4 zero bytes.
//
// On average, one of 2^32 forged sealed ids opens. It opens to a random id, which hardly any
// document has.
//
// # What it does not do
//
// A sealed id is not a permission: everyone who has it can pass it on and use it again.
// Sealing is deterministic, so equal ids have equal sealed ids. Whoever has the key can open
// all sealed ids, and without the key nobody can. Keep the key as long as a sealed id is in use.
//
// Opening tries every key, so the time that it takes does not show which key fits. If the
// processor has instructions for AES, as amd64 and arm64 do, the time does not depend on the
// data either. Elsewhere Go's AES looks values up in tables, so the time can depend on them.
package sealed
