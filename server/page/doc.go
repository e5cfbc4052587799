// Package page draws the page of a server: functions from values to nodes of HTML. It
// knows no request, no registry and no store; package server fills in the values.
package page
