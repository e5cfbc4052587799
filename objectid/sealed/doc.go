// Package sealed turns ObjectIds into public ids and back, under a secret key.
//
// An ObjectId in a URL shows when the document was created, and the ids beside it can be
// guessed. A sealed id shows neither the time nor the process of its id, and cannot be
// guessed from other sealed ids. Documents keep their _id, and nothing is stored.
//
// Start with [ParseKey], which reads the key, and [New], which returns a [Sealer] for the
// ids of one kind, such as orders. [Sealer.Seal] and [Sealer.Open] do the rest.
//
// # Format
//
// A sealed id is one block of AES-256, which encrypts the 12 bytes of the id and 4 zero
// bytes. As text it has 22 characters: base64url (RFC 4648, section 5) without padding.
// The key of AES is derived from the [Key] and the kind by HKDF-SHA-256 (RFC 5869) without
// a salt, with the info "oid sealed id v1 KIND", so a sealed id opens only under the kind
// under which it was sealed. To open is to decrypt and to compare the zero bytes.
//
// Of 2^32 forged sealed ids one opens on average. The id in it is a random one, which
// hardly any document has.
//
// # What it does not do
//
// A sealed id is not a permission: everyone who has it can pass it on and use it again.
// Sealing is deterministic, so equal ids have equal sealed ids. The key reads all sealed
// ids, and without the key nobody reads them: keep it as long as a sealed id is in use.
//
// Opening takes the same work for every forged id, whichever key opens it. AES takes the
// same time for all data if the processor has instructions for it, as on amd64 and arm64;
// elsewhere Go's AES reads tables.
package sealed
