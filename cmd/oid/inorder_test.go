package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"
)

// The results come in the order of the items, however many are worked on together.
func TestInOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 4} {
		var got []int
		err := inOrder(t.Context(), workers, func(_ context.Context, add func(int), flush func()) error {
			for i := range 10_000 {
				if add(i); i%7 == 0 || i%1000 < 20 {
					flush()
				}
			}
			return nil
		}, slices.Clone[[]int], func(some []int) error {
			got = append(got, some...)
			return nil
		})
		if err != nil || len(got) != 10_000 || !slices.IsSorted(got) {
			t.Errorf("%d workers: %d results, sorted: %v, %v", workers, len(got), slices.IsSorted(got), err)
		}
	}
	full, fed := errors.New("full"), make(chan int, 1)
	err := inOrder(t.Context(), 2, func(_ context.Context, add func(int), _ func()) error {
		for i := range 10_000 {
			add(i)
		}
		fed <- 10_000
		return nil
	}, slices.Clone[[]int], func([]int) error { return full })
	if !errors.Is(err, full) || <-fed != 10_000 {
		t.Errorf("%v, want %v", err, full)
	}
	err = inOrder(t.Context(), 2, func(_ context.Context, add func(int), _ func()) error {
		add(1)
		return full
	}, slices.Clone[[]int], func([]int) error { return nil })
	if !errors.Is(err, full) {
		t.Errorf("the feed fails: %v, want %v", err, full)
	}
}

// An id on standard input is shown before the next one arrives.
func TestInspectIDByID(t *testing.T) {
	in, feed := io.Pipe()
	read, out := io.Pipe()
	done := make(chan int, 1)
	go func() {
		var stderr bytes.Buffer
		done <- run(t.Context(), streams{in, out, &stderr}, []string{"inspect", "--json"})
		out.Close()
	}()
	lines := bufio.NewReader(read)
	for i := range 3 {
		if _, err := fmt.Fprintln(feed, annotatedID); err != nil {
			t.Fatal(err)
		}
		got := make(chan string, 1)
		go func() {
			line, _ := lines.ReadString('\n')
			got <- line
		}()
		select {
		case line := <-got:
			if !bytes.Contains([]byte(line), fmt.Appendf(nil, `"line":%d,`, i+1)) {
				t.Errorf("line %d is %q", i+1, line)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("line %d does not come", i+1)
		}
	}
	feed.Close()
	if status := <-done; status != 0 {
		t.Errorf("exit code %d", status)
	}
}
