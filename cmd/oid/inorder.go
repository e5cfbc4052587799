package main

import "context"

// inOrder does work on items, some at a time in several goroutines, and calls use with the
// results in the order of the items. feed adds the items, and calls flush before it waits
// for more, so that those it has added are worked on meanwhile. Its context ends when use
// fails; its error is the last one.
func inOrder[T, R any](ctx context.Context, workers int, feed func(ctx context.Context, add func(T), flush func()) error, work func([]T) R, use func(R) error) error {
	const together = 256
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := make(chan chan R, workers)
	fed := make(chan error, 1)
	go func() {
		defer close(results)
		var items []T
		flush := func() {
			if len(items) == 0 || ctx.Err() != nil {
				return
			}
			some, result := items, make(chan R, 1)
			items = make([]T, 0, min(2*len(some), together))
			select {
			case results <- result:
				go func() { result <- work(some) }()
			case <-ctx.Done():
			}
		}
		fed <- feed(ctx, func(item T) {
			if items = append(items, item); len(items) >= together {
				flush()
			}
		}, flush)
		flush()
	}()
	for result := range results {
		if err := use(<-result); err != nil {
			return err
		}
	}
	return <-fed
}
