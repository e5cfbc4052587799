//go:build !linux

package objectid

import "errors"

func mapVMClock(string) ([]byte, error) { return nil, errors.ErrUnsupported }
