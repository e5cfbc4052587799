package main

import (
	"strings"
	"testing"
)

// Cells begin in the same column of the terminal below wide, combining and no characters.
func TestWriteTable(t *testing.T) {
	var got strings.Builder
	err := writeTable(&got, [][]string{
		{"STATE", "NAME", "FILES"},
		{"alive", "订单服务", "9"},
		{"dead", "cafe\u0301", "15"},
		{"", "shop", ""},
	})
	want := "STATE  NAME      FILES\n" +
		"alive  订单服务  9\n" +
		"dead   cafe\u0301      15\n" +
		"       shop      \n"
	if err != nil || got.String() != want {
		t.Errorf("got %v:\n%s\nwant:\n%s", err, got.String(), want)
	}
}
