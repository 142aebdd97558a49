package config

import (
	"fmt"
	"strings"
)

// FromURLs makes a config of URLs, one source each, named by their hosts or their types. The
// error is a *Problems with every URL that cannot be used.
func FromURLs(urls []string) (Config, error) {
	var c Config
	var problems Problems
	for i, raw := range urls {
		t, err := ParseURL(raw)
		if err == nil {
			err = Supported(t.Type)
		}
		if err != nil {
			problems.List = append(problems.List, Problem{Text: fmt.Sprintf("%s: %v", shown(raw, i), err)})
			continue
		}
		c.Sources = append(c.Sources, sourceOf(t))
	}
	nameSources(c.Sources)
	return c, (&problems).orNil()
}

// shown is how an unusable URL is named in an error: without what stands before its
// last @ and without its parameters, where a secret could be.
func shown(raw string, i int) string {
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		scheme, _, _ := strings.Cut(raw, "://")
		raw = cut(scheme) + "://..." + raw[at:]
	}
	raw, _, _ = strings.Cut(raw, "?")
	if raw == "" {
		return fmt.Sprintf("argument %d", i+1)
	}
	return fmt.Sprintf("%q", cut(raw))
}

func sourceOf(t Target) Source {
	return Source{Type: t.Type, URL: t.URL, Address: t.Address, Watch: t.Watch, Nodes: t.Nodes, Channels: t.Channels}
}
