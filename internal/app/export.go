package app

import (
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"coordtop/internal/config"
	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/ui"
)

// export writes rows of the board as get does.
func export(w io.Writer, f ui.Form, st *sources.State, rows []*sources.Row, now time.Time) error {
	forms := map[ui.Form]headless.Format{ui.FormJSON: headless.JSON, ui.FormCSV: headless.CSV, ui.FormMarkdown: headless.Markdown}
	return headless.Export(w, forms[f], st, rows, now) // without a name there it is text
}

// commandFor returns what makes the command line that shows a row of c: by the name of its
// source where that stands in a config file, else by a URL without a password.
func (p *program) commandFor(c config.Config) func(*sources.Row) string {
	return func(r *sources.Row) string {
		words := []string{"coordtop", "get"}
		i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == r.Source })
		if i < 0 {
			return ""
		}
		if c.Path == "" {
			return strings.Join(append(words, quoted(oneRow(c.Sources[i], r))), " ")
		}
		if p.configFile != "" {
			words = append(words, "--config", quoted(p.configFile))
		}
		name := r.Name
		if r.Space != "" {
			name = strings.TrimPrefix(r.Space, "/") + "/" + name // that of YDB begins with a slash
		}
		return strings.Join(append(words, quoted(r.Source+"/"+name)), " ")
	}
}

// oneRow is the URL that selects one row of a source. Where a password is needed, it is
// left out: it must come from the environment.
func oneRow(s config.Source, r *sources.Row) string {
	key := map[sources.Kind]string{sources.KindElection: "election", sources.KindSemaphore: "semaphore", sources.KindMutex: "mutex"}[r.Kind]
	switch {
	case key == "" && (s.Type == config.TypeRedis || s.Type == config.TypeYDB):
		key = "keys"
	case key == "" && s.Type == config.TypePostgres:
		key = "locks"
	case key == "":
		key = "mutex"
	}
	name := r.Name
	if s.Type == config.TypeRedis { // its selections are patterns
		name = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`).Replace(name)
	}
	address, user := s.Address, s.User
	if t, err := config.ParseURL(s.URL); err == nil && user == "" {
		user = t.User
	}
	if t, err := config.ParseURL(s.URL); err == nil && s.Type == config.TypeRedis && !t.HasPassword && s.Password.IsZero() {
		user = "" // it is not sent
	}
	if scheme, rest, ok := strings.Cut(address, "://"); ok && user != "" {
		address = scheme + "://" + url.User(user).String() + "@" + rest
	}
	query := "?"
	if s.Type == config.TypeYDB {
		query = ydbQuery(s.URL) + "node=" + escape(r.Space) + "&"
	}
	return address + query + key + "=" + escape(name)
}

// escape is for the value of a parameter of ours, in which a + is a +.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// quoted makes a text one word of a shell.
func quoted(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@%+,=") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
