// Package wire has the JSON types of the HTTP API in package server. Package
// client decodes into them, and the command oid writes them with --json.
//
// The types are plain: they depend on nothing but package objectid. All follow the
// same conventions:
//
//   - Names are in snake_case.
//   - Times are RFC 3339 in UTC, with as many digits as are known.
//   - Durations are numbers of seconds with names in _seconds, sizes are numbers
//     of bytes with names in _bytes.
//   - Enumerations are lower case with hyphens.
//   - What is unknown is absent, or null in a field that is always sent.
//
// The server may add fields and values of enumerations in later versions. A client
// must ignore those that it does not know.
package wire
