package main

import "context"

// inOrder does work on items, some at a time in several goroutines, and calls use with the
// results in the order of the items. feed adds the items, and calls flush before it waits
// for more, so that those it has added are worked on meanwhile.
func inOrder[T, R any](ctx context.Context, workers int, feed func(add func(T), flush func()), work func([]T) R, use func(R) error) error {
	const together = 256
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	results := make(chan chan R, workers)
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
		feed(func(item T) {
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
	return nil
}
