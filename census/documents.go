package census

import (
	"context"
	"fmt"
	"io"

	"github.com/oidkit/oid/census/internal/source"
)

// Document is a document that [Documents] read.
type Document struct {
	// Unit is what Number counts from 1: "document" or "line".
	Unit   string
	Number int64
	// Data is the document: BSON if IsBSON is true, and otherwise JSON, which Documents has not
	// checked.
	Data   []byte
	IsBSON bool
}

// Documents calls use with each document of a source in the format BSON or JSON, which it detects
// as [Census.Read] does, also if the source is compressed. It returns the error of use at once.
// The error wraps [ErrFormat] if the source has no documents or several files.
func Documents(ctx context.Context, in io.Reader, use func(Document) error) error {
	o := source.Options{Documents: true}
	return source.Walk(in, o, func(file string, s *source.Input, err error) error {
		switch {
		case err != nil:
			return err
		case file != "":
			return fmt.Errorf("%w: this contains files; unpack one of them first: %s", ErrFormat, file)
		case s.Format == source.Archive:
			return fmt.Errorf("%w: this is an archive of mongodump, which may have several collections; restore it with mongorestore", ErrFormat)
		case s.Format != source.BSON && s.Format != source.JSON:
			return fmt.Errorf("%w: these are no documents in JSON or BSON, but %s", ErrFormat, s.Format)
		}
		before := int64(1)
		return s.Read(ctx, func(*source.Batch) {}, func(b *source.Batch) error {
			for _, d := range b.Docs {
				if err := use(Document{s.Unit, before + int64(d.Place), d.Data, s.Format == source.BSON}); err != nil {
					return err
				}
			}
			before += int64(b.Documents)
			return nil
		})
	})
}
