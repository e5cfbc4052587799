//go:build !linux

package idset

func adviseLarge([]Record) {}
