package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
	"github.com/oidkit/oid/server/wire"
)

// sealFlags are the flags that say how ids are sealed and opened.
type sealFlags struct {
	kind, prefix, keyFile string
}

const sealHelp = `--kind names what the ids identify, such as order. A sealed id opens only under the kind
under which it was sealed.

The keys are in the file --key-file FILE, one per line. Only the owner of the file may
have access to it. Without --key-file the keys are in the variable OID_SEAL_KEYS,
separated by spaces. "oid seal" uses the first key, "oid open" tries every key. "oid seal
--new-key" creates a key.`

func (f *sealFlags) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.kind, "kind", "", "what the ids identify, such as order")
	cmd.Flags().StringVar(&f.prefix, "prefix", "", "text before each sealed id, such as order_")
	cmd.Flags().StringVar(&f.keyFile, "key-file", "", "`FILE` with the keys, one per line (default the variable OID_SEAL_KEYS)")
}

// sealer returns the Sealer that the flags ask for.
func (f *sealFlags) sealer() (*sealed.Sealer, error) {
	if f.kind == "" {
		return nil, usagef("--kind is missing; say what the ids identify, for example --kind order")
	}
	keys, err := f.keys()
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	s, err := sealed.New(&sealed.Options{Kind: f.kind, Prefix: f.prefix, Keys: keys})
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

func (f *sealFlags) keys() (all []sealed.Key, err error) {
	where, text := "OID_SEAL_KEYS", []byte(os.Getenv("OID_SEAL_KEYS"))
	if f.keyFile != "" {
		where = f.keyFile
		if text, err = readSecret(f.keyFile); err != nil {
			return nil, err
		}
	}
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("#")) {
			continue
		}
		for word := range bytes.FieldsSeq(line) {
			key, err := sealed.ParseKey(string(word))
			if err != nil {
				return nil, fmt.Errorf("%s: key %d: %w", where, len(all)+1, err)
			}
			all = append(all, key)
		}
	}
	if all == nil {
		return nil, usagef(`%s has no key; create one with "(umask 077; oid seal --new-key > FILE)" and write --key-file FILE`, where)
	}
	return all, nil
}

func newSealCommand(std streams) *cobra.Command {
	var (
		how    sealFlags
		newKey bool
		asJSON jsonFlag
		input  pasting
	)
	cmd := &cobra.Command{
		Use:   "seal [ID...]",
		Short: "Turn ids into public ids that hide time and process",
		Long: `Write the sealed id of each ObjectId: a public id that does not show when and by which
process the ObjectId was created, and that cannot be guessed. "oid open" turns it back
into the ObjectId.

Give ids as arguments. Without arguments, or for the argument "-", the command reads ids
from standard input. Every notation that "oid inspect" reads is allowed.

` + sealHelp + `

A sealed id has 22 characters after its prefix. A forged sealed id opens with a chance of
1 in 2^32. A sealed id is not a permission: a person who has it can pass it on. Keep every
key: if a key is lost, the ids that it sealed cannot be opened any more.

Exit code 1 means that at least one piece of the input is not an ObjectId; all others are
sealed.`,
		Example: `  (umask 077; oid seal --new-key > seal.key)
  oid seal --kind order --prefix order_ --key-file seal.key 507f1f77bcf86cd799439011`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if newKey {
				if len(args) > 0 {
					return usagef("--new-key takes no argument: %q", args[0])
				}
				_, err := fmt.Fprintln(std.out, sealed.GenerateKey())
				return err
			}
			s, err := how.sealer()
			if err != nil {
				return err
			}
			return input.objectIDs(cmd.Context(), std, args, func(id objectid.ID) error {
				text := s.Seal(id)
				return asJSON.emit(std.out, wire.SealedID{ID: id.String(), Sealed: text}, textf("%s\n", text))
			})
		},
	}
	how.addFlags(cmd)
	cmd.Flags().BoolVar(&newKey, "new-key", false, "write a new random key, and seal nothing")
	asJSON.addFlag(cmd, jsonObjects)
	input.addFlag(cmd)
	return cmd
}

func newOpenCommand(std streams) *cobra.Command {
	var (
		how    sealFlags
		asJSON jsonFlag
	)
	cmd := &cobra.Command{
		Use:   "open [SEALED...]",
		Short: "Turn sealed ids back into ids",
		Long: `Write the ObjectId of each sealed id that "oid seal" wrote. Give sealed ids as arguments.
Without arguments, the command reads them from standard input, one per line. If a sealed
id begins with a hyphen, write "--" before it.

` + sealHelp + `

Exit code 1 means that at least one sealed id does not open: it was changed, or sealed
under another kind or key. All others are opened.`,
		Example: `  oid open --kind order --prefix order_ --key-file seal.key order_140COY9VZRS6_wzq57f9Xg`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := how.sealer()
			if err != nil {
				return err
			}
			var failed error
			for place, text := range textsOf(cmd.Context(), std, args, "sealed ids", &failed) {
				id, err := s.Open(text)
				if err != nil {
					failed = errReported
					std.warn("%s: %v", place, err)
					continue
				}
				if err := asJSON.emit(std.out, wire.SealedID{ID: id.String(), Sealed: text}, textf("%v\n", id)); err != nil {
					return err
				}
			}
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			return failed
		},
	}
	how.addFlags(cmd)
	asJSON.addFlag(cmd, jsonObjects)
	return cmd
}
