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
// to the server alone once it is registered, in one registry that keeps its data.
//
// A store that is locked, broken or unreachable only fails the requests that need it.
//
// Requests, connections, bodies, uploads, what they unpack to, the memory of all of them
// together, and the time for each are bounded, see [Limits]: no client can make the
// server grow without bound or keep it from answering others. A connection that waits
// for its client gives way to a new one; a client that sends or reads slowly holds
// neither a slot nor a processor; large requests take turns, beside which small ones
// are answered. Uploads are read as they arrive and never held as a whole, and the work
// on them ends when their sender is gone.
//
// On a loopback address and without a token the server answers only requests for a
// loopback name that came through no proxy, so that no foreign web site can reach it
// through a browser and no proxy opens it to others. Writes by pages of another origin
// are refused everywhere. Any other address requires a token. Tokens have names, may be
// for reading only, and those who guess them wait longer and longer.
//
// # Limitations
//
// Over TLS the server speaks HTTP/1.1 only; a proxy before it may speak HTTP/2. The
// reports of the last few censuses are kept in memory until the server ends. A logout
// ends a session at the server that received it, and elsewhere when its time is over.
package server
