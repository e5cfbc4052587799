// Package server is oid over HTTP: an API for programs in any language, and a page
// for people.
//
//	s, err := server.New(&server.Options{Open: openStore})
//	...
//	err = s.Serve(ctx, listener) // until ctx ends
//
// The API creates ids in bulk, shows the creation time and the process of an id, turns
// times into ranges, registers processes, and takes the census of an upload. Its
// description is at /openapi.json, generated from the types of package wire. The page
// at / offers the same to people, without JavaScript where a form suffices.
//
// # Guarantees
//
// No id is created twice: all ids come from one generator, whose process value belongs
// to the server alone once it is registered.
//
// A store that is locked, broken or unreachable only fails the requests that need it.
// Requests, connections, bodies, uploads, and the time for each are bounded, see
// [Limits]: no client can make the server grow without bound or keep it from answering
// others. Uploads are read as they arrive and never held as a whole, neither in memory
// nor on disk.
//
// On a loopback address the server answers only requests for a loopback name, so that
// no foreign web site can reach it through a browser. Writes by pages of another origin
// are refused everywhere. Any other address requires a token.
//
// # Limitations
//
// There is no TLS: put a proxy in front for networks that you do not trust. A token
// permits everything. The reports of the last few censuses are kept in memory until
// the server ends.
package server
