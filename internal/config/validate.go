package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode"

	"coordtop/coord/certs"
	"coordtop/sources"
)

// validator turns a file into a Config and reports what is wrong with it.
type validator struct {
	*decoder
	backends Backends
	dir      string // of the config file: the base of relative file names
	home     string // replaces ~; "": not known
}

func (v *validator) config(f *file) Config {
	c := Config{Title: f.Title, Color: f.Color, Identity: f.Identity, Start: f.Start, Team: f.Team, Names: f.Names, Keys: f.Keys, Alert: f.Alert, Thresholds: f.Thresholds, History: f.History, Metrics: f.Metrics, places: v.places}
	v.plain("title", f.Title)
	v.word("color", f.Color, Colors())
	v.word("start", f.Start, Starts())
	v.word("alert", f.Alert, Alerts())
	if f.Identity != "" {
		if err := checkIdentity(f.Identity); err != nil {
			v.wrong("identity", "%v", err)
		}
	}
	if asks := f.Team == "" || f.Team == FromServers; asks && len(f.Sources) == 0 && len(v.problems.List) == 0 {
		v.wrong("sources", "no sources: name at least one, as - url: redis://host:6379/0")
	}
	for i := range f.Sources {
		c.Sources = append(c.Sources, v.source(&f.Sources[i], fmt.Sprintf("sources[%d]", i)))
	}
	v.unique(c.Sources)
	v.backends.nameSources(c.Sources)
	for i, names := range f.Agree {
		v.agree(i, names, c.Sources)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Names)) {
		v.names(name, f.Names[name], c.Sources)
	}
	for i, o := range f.Owners {
		c.Owners = append(c.Owners, v.owner(o, fmt.Sprintf("owners[%d]", i))...)
	}
	c.Runbooks, c.Objectives = v.runbooks(f.Runbooks), v.objectives(f.Objectives, &f.History)
	for i := range f.Notify {
		c.Notify = append(c.Notify, v.notify(&f.Notify[i], fmt.Sprintf("notify[%d]", i)))
	}
	if len(f.Notify) > 0 && f.History.Off {
		v.wrong("notify", "needs the recording, since only the coordtop that records sends: take history.off out")
	}
	v.thresholds(&f.Thresholds)
	c.History = v.history(f.History)
	v.team(f.Team, f.History)
	return c
}

// word checks a value that is left out, or one of some words.
func (v *validator) word(path, value string, words []string) {
	if value != "" && !slices.Contains(words, value) {
		v.wrong(path, "must be one of %s", strings.Join(words, ", "))
	}
}

// names checks the names of the locks of a source.
func (v *validator) names(source string, list map[string]string, all []Source) {
	path := join("names", source)
	i := slices.IndexFunc(all, func(s Source) bool { return s.Name == source })
	if i < 0 {
		v.wrong(path, "no source has this name")
		return
	}
	b := v.backends.Of(all[i].Type)
	if b != nil && !b.has(Names) {
		v.wrong(path, "only locks of %s are numbers to be named", v.backends.with(Names))
		return
	}
	for _, lock := range slices.Sorted(maps.Keys(list)) {
		v.try(b, join(path, lock), Source{}, map[string]string{lock: list[lock]})
	}
}

// agree gives the sources of the i-th group the number of the group.
func (v *validator) agree(i int, names []string, all []Source) {
	if path := fmt.Sprintf("agree[%d]", i); len(names) < 2 {
		v.wrong(path, "name two sources at least, as [leases-a, leases-b]")
	}
	for n, name := range names {
		path, at := fmt.Sprintf("agree[%d][%d]", i, n), slices.IndexFunc(all, func(s Source) bool { return s.Name == name })
		switch {
		case at < 0:
			v.wrong(path, "no source has this name")
		case all[at].Agree > 0:
			v.wrong(path, "this source is in a list already: one that agrees with all of them is in the same")
		default:
			all[at].Agree = i + 1
		}
	}
}

// try lets the backend check a source that has only the value at a path, and reports the problem at that path. Because
// the source has only this value, one mistake does not hide another. It does nothing if the path already has a problem.
func (v *validator) try(b *Backend, path string, s Source, names map[string]string) {
	if b == nil || v.reported(path) {
		return
	}
	if s.Type = b.Type; s.URL == "" {
		s.URL = b.Docs.Example
	}
	if err := b.Check(s, names); err != nil {
		v.wrong(path, "%v", err)
	}
}

// plain reports a problem if text has characters that would control a terminal.
func (v *validator) plain(path, text string) {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		v.wrong(path, "must be printable text on one line")
	}
}

func (v *validator) unique(sources []Source) {
	for i, s := range sources {
		first := slices.IndexFunc(sources, func(other Source) bool { return other.Name == s.Name })
		if s.Name != "" && first < i {
			v.wrong(fmt.Sprintf("sources[%d].name", i), "sources[%d] has this name too: give each its own", first)
		}
	}
}

// legible reads the patterns for parts of values that may be shown although the values may prove ownership.
func (v *validator) legible(f *fileSource, b *Backend, path string) []*regexp.Regexp {
	if !v.takes(b, path, "legible") {
		return nil
	}
	var list []*regexp.Regexp
	for i, text := range f.Legible {
		where := fmt.Sprintf("%s.legible[%d]", path, i)
		if text == "" {
			v.wrong(where, "is empty: write a regular expression for what may be shown of a value")
		} else if p := v.expression(where, text); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// expression reads a regular expression. It returns nil after it has reported a problem.
func (v *validator) expression(where, text string) *regexp.Regexp {
	p, err := regexp.Compile(text)
	if err != nil {
		why := "" // without the expression
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			why = ": " + bad.Code.String()
		}
		v.wrong(where, "not a regular expression (RE2)%s", why)
		return nil
	}
	return p
}

func (v *validator) source(f *fileSource, path string) Source {
	s := Source{
		Name: f.Name, User: f.User, ReadOnly: f.ReadOnly, Protect: f.Protect,
		ClientsUnprotected: f.ClientsUnprotected, AllowRecreate: f.AllowRecreate, ForgetNames: f.Names == "off", UnrecordedData: f.UnrecordedData, Forget: time.Duration(f.Forget),
		PollMin: time.Duration(f.Poll.Min), PollMax: time.Duration(f.Poll.Max), Password: v.password(f, path),
	}
	v.plain(path+".name", f.Name)
	if strings.Contains(f.Name, "://") || strings.Contains(f.Name, "@") {
		v.wrong(path+".name", "is the address of a server: write a short name, as leases")
	}
	if v.wrote(path+".name") && f.Name == "" {
		v.wrong(path+".name", "is empty: write one or leave the key out")
	}
	t, ok := v.target(f, path)
	b := v.backends.Of(t.Type)
	if ok {
		s.Type, s.URL, s.Address, s.Watch, s.Nodes = t.Type, t.URL, t.Address, t.Watch, t.Nodes
		v.try(b, path+".url", Source{URL: t.URL, User: f.User, Watch: t.Watch, Nodes: t.Nodes, Channels: t.Channels}, nil)
	}
	s.Channels, s.Scheme = v.channels(f, t, b, path), f.KeyScheme
	for _, key := range []string{"key_scheme", "clients_unprotected", "allow_recreate", "names"} {
		v.takes(b, path, key)
	}
	v.try(b, path+".key_scheme", Source{Scheme: s.Scheme}, nil)
	if v.wrote(path+".names") && f.Names != "off" {
		v.wrong(path+".names", "only off is taken here: the names that are seen are not remembered")
	}
	if f.User != "" && t.User != "" && f.User != t.User {
		v.wrong(path+".user", "the url names another user: keep one of the two")
	}
	s.Legible = v.legible(f, b, path)
	if b != nil && !b.has(Forget) && v.wrote(path+".forget") {
		v.wrong(path+".forget", "%s takes none: what is named is always shown, and there is nothing else", b.Title)
	}
	s.Token = v.token(f, t, b, s.Password, path)
	s.TLS = v.tls(f.TLS, t, path+".tls")
	for i, w := range f.Watch {
		v.watch(w, &s, b, fmt.Sprintf("%s.watch[%d]", path, i))
	}
	for _, key := range slices.Sorted(maps.Keys(f.Labels)) {
		v.plain(join(path+".labels", key), key+f.Labels[key])
		s.Labels = append(s.Labels, sources.Attr{Key: key, Value: f.Labels[key]})
	}
	if s.PollMin > 0 && s.PollMax > 0 && s.PollMin > s.PollMax {
		v.wrong(path+".poll.min", "is longer than max")
	}
	return s
}

// takes reports whether the backend is unknown or takes a key of the mapping at path. If the file has a key that the
// backend does not take, takes reports a problem.
func (v *validator) takes(b *Backend, path, key string) bool {
	t, some := traitFor(key)
	if b == nil || !some || b.has(t) || !v.wrote(path+"."+key) {
		return true
	}
	v.wrong(path+"."+key, "%s", v.backends.onlyWith(t))
	return false
}

// target reads the url of a source, and reports a password in it.
func (v *validator) target(f *fileSource, path string) (Target, bool) {
	if f.URL == "" {
		v.wrong(path+".url", "missing: where the server is, as redis://host:6379/0, postgres://user@host/database or grpc://host:2136/database")
		return Target{}, false
	}
	t, err := v.backends.ParseURL(f.URL)
	if err != nil {
		v.wrong(path+".url", "%v", err)
		return t, false
	}
	if t.HasPassword {
		v.wrong(path+".url", "holds a password: take it out and say where it is with %s", whereSecrets(v.backends.Of(t.Type)))
	}
	return t, true
}

// channels returns the channels of the url, then those of the file.
func (v *validator) channels(f *fileSource, t Target, b *Backend, path string) []string {
	if !v.takes(b, path, "channels") {
		return nil
	}
	for i, c := range f.Channels {
		where := fmt.Sprintf("%s.channels[%d]", path, i)
		if c == "" {
			v.wrong(where, "is empty: write the name of a channel")
		}
		v.try(b, where, Source{Channels: []string{c}}, nil)
	}
	return append(t.Channels, f.Channels...)
}

func (v *validator) password(f *fileSource, path string) Secret {
	s := Secret{Env: f.PasswordEnv, File: v.file(f.PasswordFile), Command: f.PasswordCommand}
	if v.oneOf(s, path, "password_env", "password_file", "password_command") == "" {
		return Secret{}
	}
	return s
}

// oneOf returns the path of the key that names the place of a secret; "" if none or several of keys are set.
func (v *validator) oneOf(s Secret, path string, keys ...string) string {
	keys = slices.DeleteFunc(keys, func(key string) bool { return !v.wrote(path + "." + key) })
	if len(keys) == 0 {
		return ""
	}
	where := path + "." + keys[0]
	switch {
	case len(keys) > 1:
		v.wrong(path+"."+keys[1], "%s is there too: keep one", keys[0])
		return ""
	case s.IsZero() && !v.reported(where), len(s.Command) > 0 && s.Command[0] == "":
		v.wrong(where, "is empty")
	}
	return where
}

func (v *validator) tls(f certs.Files, t Target, path string) certs.Files {
	if f == (certs.Files{}) {
		return f
	}
	if (f.Cert == "") != (f.Key == "") {
		v.wrong(path, "cert and key belong together: give both or none")
	}
	switch _, known := v.backends.byScheme(t.Scheme); {
	case known.Socket:
		v.wrong(path, "a socket of this machine is not encrypted: take it out")
	case known.Plain != "":
		v.wrong(path, "the url is not encrypted: write it as %s://", known.Plain)
	case known.Clear != "" && strings.Contains(t.URL, known.Clear):
		v.wrong(path, "the url says %s: take that out", known.Clear)
	}
	return certs.Files{CA: v.file(f.CA), Cert: v.file(f.Cert), Key: v.file(f.Key), ServerName: f.ServerName}
}

// watch adds an entry of watch to the source, whose backend is b.
func (v *validator) watch(f fileWatch, s *Source, b *Backend, path string) {
	var all []Watch
	for _, w := range []Watch{
		{Pattern: f.Keys}, {Kind: sources.KindElection, Pattern: f.Election},
		{Kind: sources.KindMutex, Pattern: f.Mutex}, {Kind: sources.KindSemaphore, Pattern: f.Semaphore},
	} {
		if w.Pattern != "" {
			w.Expected, w.Node = f.Expected, f.Node
			all = append(all, w)
		}
	}
	if strings.Trim(f.Node, "/") != "" && b.has(Nodes) {
		v.try(b, path+".node", Source{Nodes: []string{f.Node}}, nil)
	}
	switch {
	case !v.takes(b, path, "node"), !v.takes(b, path, "semaphores_file"):
	case v.wrote(path+".node") && strings.Trim(f.Node, "/") == "":
		v.wrong(path+".node", "is empty: write the path of a coordination node, as /local/app")
	case len(all) == 0 && f.SemaphoresFile != "":
		s.NameFiles = append(s.NameFiles, NameFile{v.file(f.SemaphoresFile), f.Node, f.Expected})
		return
	case len(all) == 0 && f.Node != "" && !f.Expected:
		s.Nodes = append(s.Nodes, f.Node)
		return
	case len(all) != 1 || f.SemaphoresFile != "":
		v.wrong(path, "must have one of election, mutex, semaphore, keys, with a name or a pattern")
	}
	if len(all) != 1 || f.SemaphoresFile != "" {
		return
	}
	if b != nil && !b.has(Semaphores) && v.wrote(path+".semaphore") {
		v.wrong(path+".semaphore", "%v", b.noSemaphores())
	}
	w := all[0]
	s.Watch = append(s.Watch, w)
	w.Node = ""
	v.try(b, path+"."+selector(w.Kind), Source{Watch: []Watch{w}}, nil)
}

// file returns the absolute path of a file name: ~ is the home directory, and other relative names start at the folder
// of the config file.
func (v *validator) file(name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok && v.home != "" {
		return filepath.Join(v.home, rest)
	}
	return filepath.Join(v.dir, name)
}

// thresholds checks the thresholds that depend on each other.
func (v *validator) thresholds(t *sources.Thresholds) {
	if t.FlapWithin > time.Hour {
		v.wrong("thresholds.flap_within", "must be an hour at most: losses are counted for that long")
	}
	if t.FlapWithin < time.Minute {
		v.wrong("thresholds.flap_within", "must be a minute at least: losses are counted by the minute")
	}
	if t.LateLeft > t.LateWorn {
		v.wrong("thresholds.late_left", "must not be more than late_worn, from where on missed renewals count")
	}
	if t.Wait > t.WaitPerson {
		v.wrong("thresholds.wait", "must not be longer than wait_person")
	}
}

// MaxIdentity bounds the characters of our label, so that every backend keeps it whole (Postgres keeps 63 of
// application_name, and data follows our label).
const MaxIdentity = 40

// InIdentity reports whether every backend takes r in a label: printable ASCII, except a space and |, which separate
// labels from data.
func InIdentity(r rune) bool { return r > ' ' && r <= '~' && r != '|' }

// checkIdentity returns an error about a template of our label.
func checkIdentity(template string) error {
	rest := strings.NewReplacer("{user}", "", "{host}", "", "{pid}", "").Replace(template)
	switch {
	case strings.ContainsAny(rest, "{}"):
		return errors.New("only {user}, {host} and {pid} can stand in braces")
	case strings.ContainsFunc(rest, func(r rune) bool { return !InIdentity(r) }):
		return errors.New("must be ASCII without spaces and without |")
	case len(rest) > MaxIdentity:
		return fmt.Errorf("is longer than %d characters", MaxIdentity)
	}
	return nil
}
