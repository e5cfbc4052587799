package door

import (
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// guesser sends tokens from one address and counts those that are compared.
type guesser struct {
	*throttle
	from     netip.Addr
	compared int
}

const rightToken = "right-0123456789"

func newGuesser() *guesser {
	return &guesser{throttle: newThrottle(), from: netip.MustParseAddr("10.0.0.1")}
}

func (g *guesser) send(token string) (right bool, wait time.Duration) {
	right, wait, _ = g.try(g.from, token, func() bool {
		g.compared++
		return token == rightToken
	})
	return right, wait
}

// A right token passes beside wrong ones from the same address, whether it was right
// there before or not. The wrong ones have to wait.
func TestRightTokenPasses(t *testing.T) {
	for _, other := range []string{"one wrong token", "different ones"} {
		for _, new := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				g := newGuesser()
				passed, waited := 0, 0
				for i := range 300 { // ten times a second, for 30 s
					wrong := "wrong-0123456789"
					if other == "different ones" {
						wrong = fmt.Sprintf("wrong-%010d", i)
					}
					if right, wait := g.send(wrong); right || wait > 0 {
						waited++
					}
					if i%5 >= 3 {
						if new {
							clear(g.right)
						}
						if right, _ := g.send(rightToken); right {
							passed++
						}
					}
					time.Sleep(100 * time.Millisecond)
				}
				if passed != 120 || waited < 280 {
					t.Errorf("beside %s: %d of 120 right tokens passed, want all; %d of 300 wrong ones had to wait, want nearly all", other, passed, waited)
				}
			})
		}
	}
}

// However many tokens an address sends, only looksPerSecond of them are compared, so
// that a right one passes by chance only. One that was right there before passes up to
// guessesPerHour wrong ones.
func TestGuessesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const seconds, rate = 10, 2000
		g := newGuesser()
		for i := range seconds * rate {
			g.send(fmt.Sprintf("wrong-%010d", i))
			time.Sleep(time.Second / rate)
		}
		// The window has an end on either side, and some are free.
		if most := looksPerSecond*(seconds+1) + freeGuesses; g.compared > most || g.compared < looksPerSecond*seconds/2 {
			t.Errorf("%d of %d tokens were compared in %d s, want up to %d", g.compared, seconds*rate, seconds, most)
		}
		if right, wait := g.send(rightToken); right || wait <= 0 {
			t.Errorf("a new token beyond the rate: %v, wait %v", right, wait)
		}
		time.Sleep(time.Second)
		if right, _ := g.send(rightToken); !right {
			t.Error("the right token did not pass after the wrong ones")
		}
		g.wrong[g.from].hour.n = 0
		for i := range guessesPerHour + 1 {
			g.send("wrong")
			if i == guessesPerHour-2 {
				if right, _ := g.send(rightToken); !right {
					t.Errorf("a token that was right before does not pass beside %d wrong ones", i+1)
				}
			}
		}
		if right, _ := g.send(rightToken); right {
			t.Errorf("a token that was right before is compared after %d wrong ones", guessesPerHour+1)
		}
	})
}
