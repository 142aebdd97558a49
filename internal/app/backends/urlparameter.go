package backends

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"coordtop/coord"
	"coordtop/coord/certs"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// patternParameter returns the Parameter of a backend whose names can be patterns. parse parses its URLs. more are other
// parameters that select, for messages.
func patternParameter[O any](parse func(raw string) (O, error), more ...string) func(t *config.Target, key, value string) (bool, error) {
	return func(t *config.Target, key, value string) (bool, error) {
		ours, err := t.Select(key, value, "a name or a pattern, as "+key+"=app:leader:*")
		if !ours {
			return false, connectionParameter(t, key, value, parse, append([]string{"keys", "election", "mutex", "semaphore"}, more...)...)
		}
		if _, wrong := patterns(t.Watch[len(t.Watch)-1:]); err == nil && wrong != nil {
			err = fmt.Errorf("%s=: %w", key, wrong)
		}
		return true, err
	}
}

// placed returns a Prepared.Place for some spaces. A name without a space is in the only one, in "" if there are several.
func placed(spaces ...string) func(name string) (space, key string, err error) {
	return func(name string) (space, key string, err error) {
		key = name
		if len(spaces) == 1 {
			space = spaces[0]
		}
		longest := 0
		for _, s := range spaces {
			if rest, ok := strings.CutPrefix(strings.TrimPrefix(name, "/"), strings.TrimPrefix(s, "/")+"/"); ok && rest != "" && len(s) > longest {
				space, key, longest = s, rest, len(s)
			}
		}
		return space, key, nil
	}
}

// connectionParameter reports a parameter that parse does not know.
func connectionParameter[O any](t *config.Target, key, value string, parse func(raw string) (O, error), ours ...string) error {
	if err := config.Misspelt(key, ours...); err != nil {
		return err
	}
	host := "host"
	if t.Hosts == "" { // a socket
		host = t.Path
	}
	if _, err := parse(t.Scheme + "://" + host + "?" + key + "=" + value); errors.Is(err, address.ErrParameter) {
		return fmt.Errorf("%w; to select there are %s", errors.Unwrap(err), format.Series(ours, " and "))
	}
	return nil
}

// patterns reports whether one of the patterns may match several names. The error is about a malformed pattern.
func patterns(watch []config.Watch) (many bool, err error) {
	for _, w := range watch {
		pattern := glob.Pattern(w.Pattern)
		if err := pattern.Check(); err != nil {
			return false, err
		}
		_, exact := pattern.Literal()
		many = many || !exact
	}
	return many, nil
}

// selecting returns a function that reports whether a pattern still selects a recorded primitive as the kind that it
// had; nil: everything is selected.
func selecting(watch []config.Watch) func(*sources.Primitive) bool {
	if len(watch) == 0 {
		return nil
	}
	return func(p *sources.Primitive) bool {
		return slices.ContainsFunc(watch, func(w config.Watch) bool {
			return glob.Pattern(w.Pattern).Match(p.Name) && (w.Kind == p.Kind || w.Kind == sources.KindUnknown) &&
				(w.Expected || !p.Expected || p.Kind == sources.KindElection)
		})
	}
}

// tlsOf returns the TLS files of a URL, nil for no encryption, with those of the config.
func tlsOf(s config.Source, url *certs.Files) *certs.Files {
	if s.TLS == (certs.Files{}) {
		return url
	}
	files := s.TLS
	if url != nil {
		files = files.Over(*url)
	}
	return &files
}

// secretOf finds the password or the access token of a source.
func secretOf(ctx context.Context, h Host, s config.Source) (string, error) {
	secret, err := s.Secret().Resolve(ctx, h.Lookup)
	if err != nil {
		return "", fmt.Errorf("finding the password: %w", err)
	}
	return secret, nil
}

// explained sets b.Explain to explain errors with the options of the newest driver, which b.Open must store in used.
func explained[O any](b *operate.Backend, explain func(err error, o O) error) (used *atomic.Pointer[O]) {
	used = new(atomic.Pointer[O])
	b.Explain = func(err error) error {
		if o := used.Load(); o != nil {
			return explain(err, *o)
		}
		return err
	}
	return used
}

// reason returns the text of an error; "" for nil.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sent returns a function that describes what a request sends, by the driver's description of its calls.
func sent(wire func(coord.Call, coord.Claim) string) func(action.Request) string {
	calls := map[action.Verb]coord.Call{
		action.Acquire: coord.CallAcquire, action.Campaign: coord.CallAcquire, action.Try: coord.CallAcquire,
		action.Proclaim: coord.CallPublish, action.Resign: coord.CallRelease,
		action.Create: coord.CallCreate, action.Update: coord.CallUpdate, action.Delete: coord.CallDelete,
	}
	return func(r action.Request) string {
		c := coord.Claim{
			Kind: r.Target.Kind, Name: r.Target.Ref.Name, Mode: r.Mode,
			Permits: r.Permits, Limit: r.Limit, Data: r.Data, Wait: coord.Forever,
			TTL: r.Session.Lease, Ephemeral: r.Ephemeral,
		}
		if r.Verb == action.Try {
			c.Wait = 0
		}
		return wire(calls[r.Verb], c)
	}
}
