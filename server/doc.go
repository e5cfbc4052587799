// Package server is oid over HTTP: an API for programs in any language, and a page
// for people.
//
//	s, err := server.New(&server.Options{Open: openStore})
//	...
//	err = s.Serve(ctx, listener) // until ctx ends
//
// The API makes ids in bulk, tells what an id says and who made it, turns times
// into ranges, records processes, and takes the census of an upload. Its
// description is at /openapi.json, made from the types of package wire. The page
// at / does the same for people, without JavaScript where a form can.
//
// # What is promised
//
// No id is given out twice: they come from one generator, whose process value
// belongs to the server alone once it is registered.
//
// A store that is locked, broken or away takes nothing along but the answers that
// need it; those say so. Requests, connections, bodies, uploads, and the time that
// each may take are bounded, see [Limits]: nothing that clients do makes the
// server grow without bound or keeps it from answering others. Uploads are read as
// they come and never held as a whole, neither in memory nor on disk.
//
// On a loopback address the server answers only requests for a loopback name, so
// that no foreign web site can reach it through a browser; writes by pages of
// another origin are refused everywhere. On any other address it wants a token.
//
// # What is not promised
//
// There is no TLS: put a proxy in front for networks that you do not trust. A token
// lets its holder do everything. Reports of a census are kept in memory, the last
// few, until the server ends.
package server
