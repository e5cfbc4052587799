package lockfaults

import "time"

// watchStalls measures how late the timers of this process fire, as they do on a busy
// machine. The function that it returns stops that and returns the longest delay.
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
