package config

import (
	"fmt"
	"strings"
)

// FromURLs makes a config of URLs, one source each, named by their hosts or their types. The
// error is a *Problems with every URL that cannot be used. It calls them by their places, as
// "argument 2"; what has no place there by its number.
func (all Backends) FromURLs(urls []string, places ...string) (Config, error) {
	var c Config
	var problems Problems
	for i, raw := range urls {
		t, err := all.ParseURL(raw)
		if err != nil {
			place := fmt.Sprintf("argument %d", i+1)
			if i < len(places) {
				place = places[i]
			}
			problems.List = append(problems.List, Problem{Text: fmt.Sprintf("%s: %s%v", place, all.shownScheme(raw), err)})
			continue
		}
		c.Sources = append(c.Sources, sourceOf(t))
	}
	all.nameSources(c.Sources)
	return c, (&problems).Err()
}

// shownScheme is all that is repeated of a URL that is not understood: any other word of it
// could be the password.
func (all Backends) shownScheme(raw string) string {
	scheme, _, ok := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	if b, _ := all.byScheme(scheme); !ok || b == nil {
		return ""
	}
	return scheme + "://...: "
}

func sourceOf(t Target) Source {
	return Source{Type: t.Type, URL: t.URL, Address: t.Address, Watch: t.Watch, Nodes: t.Nodes, Channels: t.Channels}
}
