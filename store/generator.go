package store

import (
	"context"
	"errors"

	"github.com/oidkit/oid/objectid"
)

// WithGenerator returns s with one difference: documents that are inserted
// without an _id get one from g. With the generator of a registered process
// they can be traced to it. [InsertOptions.Generator], if set, comes first. If g is
// nil, the result is s.
func WithGenerator(s Store, g *objectid.Generator) Store {
	if g == nil {
		return s
	}
	return generating{s, g}
}

type generating struct {
	Store
	generator *objectid.Generator
}

func (s generating) Insert(ctx context.Context, collection string, doc any) (Key, error) {
	keys, err := s.InsertMany(ctx, collection, []any{doc}, nil)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		err = refused.Refused[0].Err
	}
	if err != nil {
		return Key{}, err
	}
	return keys[0], nil
}

func (s generating) InsertMany(ctx context.Context, collection string, docs []any, o *InsertOptions) ([]Key, error) {
	var options InsertOptions
	if o != nil {
		options = *o
	}
	if options.Generator == nil {
		options.Generator = s.generator
	}
	return s.Store.InsertMany(ctx, collection, docs, &options)
}
