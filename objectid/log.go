package objectid

import "log/slog"

// LogValue returns the 24 digits as a string, or nil for the zero ID. It
// implements [slog.LogValuer]. A nil *ID has no value to log: slog writes that the
// method panicked.
func (id ID) LogValue() slog.Value {
	if id.IsZero() {
		return slog.AnyValue(nil)
	}
	return slog.StringValue(id.String())
}
