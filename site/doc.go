// Command site is the part of the page that needs no server: it inspects ids, turns time
// ranges into queries, and calculates odds, in the browser. "make site" builds it for
// WebAssembly, into a folder that any web server can serve.
package main
