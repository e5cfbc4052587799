package paste

// window is how many bytes [search] looks at together. Each form that it looks for has
// at least 23 characters of one kind in a row, and so a whole window of them, wherever it
// begins:
//
//	windows  |----12----|----12----|----12----|
//	a form        [----------23---------]
const window = 12

// Kinds of characters, one bit each.
const (
	inHex     = 1 << iota // of an ObjectId or a UUID, with its hyphens
	inULID                // of a ULID in capitals
	inTypeID              // of a TypeID, after its prefix
	inProcess             // of a gpid
	inList                // of a list of numbers on a line
	inWord                // ASCII letters and digits
	inRow                 // inWord, and what is between them in a UUID or a gpid
	inDigits              // hexadecimal

	inWords = inHex | inULID | inTypeID | inProcess
)

// kinds are the kinds of each character.
var kinds = func() (table [256]uint8) {
	const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for kind, characters := range map[uint8]string{
		inHex:     digits + lower[:6] + upper[:6] + "-",
		inULID:    digits + "ABCDEFGHJKMNPQRSTVWXYZ",
		inTypeID:  digits + "abcdefghjkmnpqrstvwxyz",
		inProcess: digits + lower[:6] + ":.[]",
		inList:    digits + lower[:6] + upper[:6] + "xX ,:-\t",
		inWord:    digits + lower + upper,
		inRow:     digits + lower + upper + "-:.[]",
		inDigits:  digits + lower[:6] + upper[:6],
	} {
		for _, c := range []byte(characters) {
			table[c] |= kind
		}
	}
	return table
}()

func is(c byte, kind uint8) bool { return kinds[c]&kind != 0 }

func isHex(s string) bool { _, end := row(s, 0, 0, inDigits); return end == len(s) }

// row returns where the characters of a kind around s[from:to] begin and end.
func row(s string, from, to int, kind uint8) (int, int) {
	for from > 0 && is(s[from-1], kind) {
		from--
	}
	for to < len(s) && is(s[to], kind) {
		to++
	}
	return from, to
}

// search returns the ids in s that are rows of letters and digits, and those that are
// lists of numbers. Of most text it looks at one byte in three.
func search(s string) (ids, lists []Place) {
	idsEnd, listsEnd := 0, 0 // of what was searched
	for at := 0; at+window <= len(s); at += window {
		w := s[at : at+window]
		kind := kinds[w[0]] & kinds[w[4]] & kinds[w[7]] & kinds[w[11]]
		if kind&(inWords|inList) == 0 {
			continue
		}
		kind &= kinds[w[1]] & kinds[w[2]] & kinds[w[3]] & kinds[w[5]] & kinds[w[6]] & kinds[w[8]] & kinds[w[9]] & kinds[w[10]]
		from := 0
		if kind&inWords != 0 && at >= idsEnd {
			from, idsEnd = row(s, at, at+window, inWord)
			known := idsEnd // the window may be part of one word
			if kind&inWord == 0 {
				from, idsEnd = row(s, from, idsEnd, inRow)
				known = from
			}
			ids = wordIDs(ids, s, from, known, idsEnd)
		}
		if kind&inList != 0 && kind&inWord == 0 && at >= listsEnd { // a list has separators
			from, listsEnd = row(s, at, at+window, inList)
			if listsEnd-from >= shortestList {
				lists = numbers(lists, s, from, listsEnd)
			}
		}
	}
	return ids, lists
}

// wordIDs appends the ids in s[from:to], which has only the characters of inRow, to ids.
// The first word goes up to known at least.
func wordIDs(ids []Place, s string, from, known, to int) []Place {
	for begin := from; begin < to; begin++ {
		_, end := row(s, begin, max(begin, known), inWord)
		if p, ok := wordID(s, begin, end); ok && (len(ids) == 0 || ids[len(ids)-1].To <= p.From) {
			ids = append(ids, p)
		}
		begin = end
	}
	return ids
}
