package config

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"coordtop/sources/verdict"
)

// Notify is a rule that sends findings to one receiver. It has either a Command, a URL or a Secret.
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
// secret URL again, see Secret.Resolve. The errors do not repeat the URL.
func (n *Notify) Address(ctx context.Context, env Lookup) (string, error) {
	if n.Secret.IsZero() {
		return n.URL, nil
	}
	text, err := n.Secret.Resolve(ctx, env)
	if err != nil {
		return "", err
	}
	if !isReceiver(text) {
		return "", n.Secret.blame(errReceiver)
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

// isReceiver reports whether something can be posted to a URL.
func isReceiver(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// receiverKeys are the keys of a rule of which it has one.
var receiverKeys = [...]string{"command", "url", "url_env", "url_file", "url_command"}

// notify reads a rule for whom to tell.
func (v *validator) notify(f *fileNotify, path string) Notify {
	n := Notify{Filter: f.Filter, Command: f.Command, URL: f.URL, Secret: Secret{Env: f.URLEnv, File: v.file(f.URLFile), Command: f.URLCommand, Of: "url"}}
	switch f.Severity {
	case "", verdict.Bad.String():
	case verdict.Warn.String():
		n.Severity = verdict.Warn
	default:
		v.wrong(path+".severity", "must be %s or %s", verdict.Bad, verdict.Warn)
	}
	if !slices.ContainsFunc(receiverKeys[:], func(key string) bool { return v.wrote(path + "." + key) }) {
		v.wrong(path, "whom to tell is missing: write one of %s", strings.Join(receiverKeys[:], ", "))
		return n
	}
	to := Secret{Env: f.URLEnv + f.URL, File: f.URLFile, Command: slices.Concat(f.Command, f.URLCommand)}
	where := v.oneOf(to, path, slices.Clone(receiverKeys[:])...)
	switch u, err := url.Parse(f.URL); {
	case f.URL == "", where == "":
	case !isReceiver(f.URL):
		v.wrong(where, "%v", errReceiver)
	case err == nil && u.User != nil:
		v.wrong(where, "holds a password: take it out and say where the URL is with url_env, url_file or url_command")
	}
	return n
}
