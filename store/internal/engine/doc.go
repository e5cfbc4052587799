// Package engine has what all engines of package store do before and after they
// talk to their database: they check names and documents, put the _id in front,
// give documents ids and revisions, and sort out what was refused.
package engine
