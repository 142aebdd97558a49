package config

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"coordtop/sources/verdict"
)

// Notify is a rule for whom to tell what is found. It has either a Command, a URL or a Secret.
type Notify struct {
	Severity verdict.Severity // and what is graver
	Filter   string           // of rows, in the language of the board, which checks it; "": all
	Command  []string         // program and arguments, run without a shell
	URL      string           // http or https
	Secret   Secret           // where the URL is
}

// Alerts returns the words that `alert` takes.
func Alerts() []string { return []string{"off", "bell", "osc"} }

// errReceiver reports a URL to which nothing can be sent. It does not repeat the URL.
var errReceiver = errors.New("must be a URL that begins with https:// or http://")

// Address returns the URL to send to; "": the rule has a command. Every call reads the file or runs the command of a
// secret URL anew, see Secret.Resolve. The errors do not repeat the URL.
func (n *Notify) Address(ctx context.Context, env Lookup) (string, error) {
	if n.Secret.IsZero() {
		return n.URL, nil
	}
	text, err := n.Secret.Resolve(ctx, env)
	if err != nil {
		return "", err
	}
	if err := checkReceiver(text); err != nil {
		return "", n.Secret.blame(err)
	}
	return text, nil
}

// Check returns the key of the rule that names something that is not there, and what is wrong with it; "": none does. It
// runs no command and sends nothing.
func (n *Notify) Check(ctx context.Context, env Lookup) (key string, err error) {
	if len(n.Command) > 0 {
		_, err = program(n.Command)
		return "command", err
	}
	if err = n.Secret.Check(ctx, env); err == nil && n.Secret.Env != "" {
		_, err = n.Address(ctx, env)
	}
	return n.Secret.String(), err
}

func checkReceiver(text string) error {
	if u, err := url.Parse(text); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return errReceiver
	}
	return nil
}

// alert checks how the terminal calls.
func (v *validator) alert(how string) {
	if how != "" && !slices.Contains(Alerts(), how) {
		v.wrong("alert", "must be one of %s", strings.Join(Alerts(), ", "))
	}
}

// receiverKeys are the keys of a rule of which it has one.
var receiverKeys = [...]string{"command", "url", "url_env", "url_file", "url_command"}

// notify reads a rule for whom to tell.
func (v *validator) notify(f *fileNotify, path string) Notify {
	n := Notify{Filter: f.Filter, Command: f.Command, URL: f.URL, Secret: Secret{Env: f.URLEnv, File: v.file(f.URLFile), Command: f.URLCommand, URL: true}}
	switch f.Severity {
	case "", verdict.Bad.String():
	case verdict.Warn.String():
		n.Severity = verdict.Warn
	default:
		v.wrong(path+".severity", "must be %s or %s", verdict.Bad, verdict.Warn)
	}
	var keys []string
	for _, key := range receiverKeys {
		if v.wrote(path + "." + key) {
			keys = append(keys, key)
		}
	}
	switch {
	case len(keys) == 0:
		v.wrong(path, "whom to tell is missing: write one of %s", strings.Join(receiverKeys[:], ", "))
		return n
	case len(keys) > 1:
		v.wrong(path+"."+keys[1], "%s is there too: keep one", keys[0])
		return n
	}
	where := path + "." + keys[0]
	u, err := url.Parse(f.URL)
	switch {
	case v.reported(where):
	case len(f.Command) == 0 && f.URL == "" && n.Secret.IsZero(), slices.Index(f.Command, "") == 0, slices.Index(f.URLCommand, "") == 0:
		v.wrong(where, "is empty")
	case keys[0] == "url" && checkReceiver(f.URL) != nil:
		v.wrong(where, "%v", errReceiver)
	case keys[0] == "url" && err == nil && u.User != nil:
		v.wrong(where, "holds a password: take it out and say where the URL is with url_env, url_file or url_command")
	}
	return n
}
