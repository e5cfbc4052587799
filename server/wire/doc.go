// Package wire has the types that the HTTP API of package server receives and
// sends, as JSON. Both sides use it: the server makes its OpenAPI description from
// these types, and package client decodes into them.
//
// Fields may be added to what the server sends, so a client must pass over those
// that it does not know.
package wire
