// Package page renders the web page of a server, and the static page that needs no server.
// A view is one of the tabs: Ids, Ranges, Census, Processes, Locks, Odds. The functions that
// need no registry build the data of their view themselves, so that both pages show the same.
// For the others, package server gets the values from the registry, the store and the locks.
package page

import (
	"sync"

	g "maragu.dev/gomponents"
)

// Site has what all pages of a server have in common. [Site.Frame] returns a whole page, and
// most other methods return the contents of one view. Any number of goroutines may share it.
type Site struct {
	Base       string // path of the server's URL without a slash at its end; empty for the root
	Version    string // version of the program; may be empty
	Registry   bool   // the server has a registry
	StoreName  string // name of the store, such as PostgreSQL; may be empty
	ShowsLocks bool   // the server shows locks
	Static     bool   // the site is the static page, which has no server
	Lang       string // language of the texts as in HTML: zh-CN is Chinese, all others are English
	Docs       string // URL of the list of the documents, to which the navigation leads; may be empty

	fixed sync.Map // see once
}

// once renders a part that is the same on every page, and returns it from then on. name
// identifies the part.
func (s *Site) once(name string, part func() g.Node) g.Node {
	if n, ok := s.fixed.Load(name); ok {
		return n.(g.Node)
	}
	n := rendered(part())
	s.fixed.Store(name, n)
	return n
}

// URL returns the URL of a path on the server, which begins with a slash and may have a
// query. In the static page, the URL is the fragment that shows this view, see [Address].
// Every link of a page must be made by URL.
func (s *Site) URL(path string) string {
	if s.Static {
		path = fragment(path)
	}
	return s.Base + path
}

// view is the path and the name of a view.
type view struct {
	Path, Name string
}

// views returns all views that the navigation leads to.
func (s *Site) views() []view {
	if s.Static {
		return []view{{"/", "Ids"}, {"/range", "Ranges"}, {"/census", "Census"}, {"/odds", "Odds"}}
	}
	all := []view{{"/", "Ids"}, {"/range", "Ranges"}, {"/census", "Census"}, {"/processes", "Processes"}}
	if s.ShowsLocks {
		all = append(all, view{"/locks", "Locks"})
	}
	return all
}

// Frame is the data of a whole page, around the contents of a view.
type Frame struct {
	Title    string
	Current  string    // path of the view; empty if the page is none
	Session  bool      // the user has logged in, so the page has a button to log out
	Now      *Overview // shown at the top; nil if the client may not see it
	Contents g.Node
	Other    g.Node // link to this page in the other language; may be nil
	Head     g.Node // loads the style sheet and the scripts; nil loads those of a server
	Below    g.Node // below the contents; stays there when page.js shows another view; may be nil
}
