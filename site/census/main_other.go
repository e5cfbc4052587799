//go:build !js

package main

import "log"

func main() { log.Fatal("this program runs in a browser; build it with: make site") }
