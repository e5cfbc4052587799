//go:build !js

package pure

import "time"

func loadZone(name string) (*time.Location, error) { return time.LoadLocation(name) }
