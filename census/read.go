package census

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/oidkit/oid/census/internal/source"
	"github.com/oidkit/oid/internal/phrase"
	"github.com/oidkit/oid/internal/unpack"
)

// reading is one call of [Census.ReadCollection].
type reading struct {
	*Census
	whole  *Source // the name and the collection of what is read
	format string  // see source.Options
	failed error   // the first error about a file
}

// memberMemory is about how much memory a collection takes beside its ids, in bytes.
const memberMemory = 24 << 10

// file reads one file of the source. path is its path in the container. It is empty if the source
// is itself the file. If file returns an error, no further file is read.
func (r *reading) file(ctx context.Context, path string, in *source.Input, err error) error {
	src := *r.whole
	if path != "" {
		if keep := r.options.Keep; keep != nil {
			if err := keep(memberMemory / 16); err != nil {
				return err
			}
		}
		src.Name += ": " + path
		src.Collection = r.member(path)
	}
	r.addSource(&src)
	var stop error
	if in != nil {
		if src.Unit == "" {
			src.Format, src.Unit = Format(in.Format), in.Unit
		}
		err = in.Read(ctx, r.preparer(), func(b *source.Batch) error {
			stop = r.take(&src, b)
			return stop
		})
	}
	if err == nil {
		return nil
	}
	src.Error = phrase.Plain(err.Error())
	err = fmt.Errorf("%s: %w", src.Name, err)
	r.failed = cmp.Or(r.failed, err)
	if stop != nil || ctx.Err() != nil {
		return err
	}
	return nil
}

// member returns the collection of a file in a container.
func (r *reading) member(path string) string {
	if r.format == source.Grep {
		return r.whole.Collection
	}
	name := unpack.InFolder(path, path, r.format == source.Auto || r.format == source.BSON, nil)
	return strings.TrimPrefix(r.whole.Collection+"/"+name, "/")
}
