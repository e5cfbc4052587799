package plot

import (
	"fmt"
	"io"
	"strings"
)

// RenderFile writes s as a file of its own, with a style sheet, on a ground of the
// sheet's colour. An empty drawing is one without a plot. The error is w's.
func (s SVG) RenderFile(w io.Writer, style string) error {
	drawing := string(s)
	if drawing == "" {
		drawing = fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="nothing"></svg>`, width, top+barsHigh+foot)
	}
	end := strings.Index(drawing, ">") + 1
	_, err := fmt.Fprintf(w, `%s xmlns="http://www.w3.org/2000/svg"><style>%s
svg { background: var(--panel); color: var(--wrong); font: 12px system-ui, "DejaVu Sans", sans-serif; }</style>%s%s`,
		drawing[:end-1], strings.ReplaceAll(style, "<", ""), drawing[end:], "\n")
	return err
}
