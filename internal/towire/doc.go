// Package towire translates the values of the other packages into the JSON types
// of package server/wire, for the server and for the command's --json.
package towire
