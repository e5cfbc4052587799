package lockfaults

import "time"

// watchStalls measures by how much timers of this process are late, on a machine
// that has other things to do, until the function that it returns is called: that
// returns the longest time.
func watchStalls() (longest func() time.Duration) {
	const every = 5 * time.Millisecond
	stop, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		var worst time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				result <- worst
				return
			case <-time.After(every):
				worst = max(worst, time.Since(began)-every)
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-result
	}
}
