package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oidkit/oid/objectid"
)

// writeFile makes a file of what write writes, and returns its size.
func writeFile(path string, write func(io.Writer) error) (size int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(w), w.Flush())
	if info, statErr := f.Stat(); statErr == nil {
		size = info.Size()
	}
	return size, errors.Join(err, f.Close())
}

// ids calls use with n ids as eight processes make them, 100 a second together.
func ids(n int, use func(i int, id objectid.ID) error) error {
	now := time.Unix(1_700_000_000, 0)
	var processes [8]*objectid.Generator
	for k := range processes {
		g, err := objectid.NewGenerator(&objectid.Options{Now: func() time.Time { return now }})
		if err != nil {
			return err
		}
		processes[k] = g
	}
	for i := range n {
		now = time.Unix(1_700_000_000+int64(i/100), 0)
		// Which one is next follows no pattern that a processor could learn.
		k := uint32(i) * 2654435761 >> 29
		if err := use(i, processes[k].New()); err != nil {
			return err
		}
	}
	return nil
}

func writeBSON(w io.Writer, n, documentSize int) error {
	return ids(n, func(i int, id objectid.ID) error {
		doc, err := bson.Marshal(bson.D{{Key: "_id", Value: id}, {Key: "n", Value: int32(i)}, {Key: "text", Value: padding[:documentSize-4-17-7-11-1]}})
		if err != nil {
			return err
		}
		if len(doc) != documentSize {
			return fmt.Errorf("a document of %d bytes", len(doc))
		}
		_, err = w.Write(doc)
		return err
	})
}

func writeJSON(w io.Writer, n, documentSize int) error {
	return ids(n, func(i int, id objectid.ID) error {
		head := fmt.Sprintf(`{"_id":{"$oid":"%s"},"n":%d,"text":"`, id, i)
		_, err := fmt.Fprintf(w, "%s%s\"}\n", head, padding[:documentSize-len(head)-len("\"}\n")])
		return err
	})
}

func writeList(w io.Writer, n, _ int) error {
	return ids(n, func(_ int, id objectid.ID) error {
		_, err := fmt.Fprintln(w, id)
		return err
	})
}

var padding = strings.Repeat("abcdefghij", 40)
