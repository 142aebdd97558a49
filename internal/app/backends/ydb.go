package backends

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/ydbsource"
)

func ydb() Backend {
	return Backend{
		Backend: config.Backend{
			Type: "ydb", Title: "YDB",
			Schemes:   []config.Scheme{{Name: "grpc", Port: "2136", Shown: "grpc://", Plain: "grpcs"}, {Name: "grpcs", Port: "2136", Shown: "grpcs:// (YDB)"}},
			Traits:    []config.Trait{config.Tokens, config.Nodes, config.Semaphores},
			Parameter: ydbParameter,
			Check: func(s config.Source, _ map[string]string) error {
				_, err := newYDB(s, "", nil, "")
				return err
			},
			Docs: config.Docs{
				Example: "grpc://localhost:2136/local", Path: "/local", Select: "?node=/local/app&semaphore=NAME (&election=, &mutex=)",
				Help: "?node=PATH and &election=NAME, &mutex=NAME and &semaphore=NAME: it lists no names",
			},
			Variables: []config.Variable{{
				Name: "YDB_CONNECTION_STRING", Typed: true, Add: fromYDB, With: "the credentials that YDB's own tools read",
			}},
		},
		LogTo: ydbcoord.LogTo, Source: ydbSource, Driver: ydbDriver,
		Row: func(s config.Source, r *sources.Row, kind string) (query string, user bool) {
			return ydbQuery(s.URL) + "node=" + escape(r.Space) + "&" + cmp.Or(kind, "keys") + "=" + ydbName(r.Name), true
		},
	}
}

// ydbParameter reads coordination nodes and whole names. Patterns are impossible, since YDB lists no names.
func ydbParameter(t *config.Target, key, value string) (ours bool, err error) {
	if key == "node" {
		path, err := config.Unescape(key, value)
		if strings.Trim(path, "/") == "" && err == nil {
			err = errors.New("node= is empty: write the path of a coordination node, as node=/local/app")
		}
		t.Nodes = append(t.Nodes, path)
		return true, err
	}
	if ours, err := t.Select(key, value, "the name of a semaphore, as "+key+"=primary"); ours {
		return true, err
	}
	return false, connectionParameter(t, key, value, ydbcoord.ParseURL, "node", "keys", "election", "mutex", "semaphore")
}

// fromYDB adds credentials to a source in the order of YDB's own tools: those of the connection string, then
// anonymous, then a token, then a user.
func fromYDB(s *config.Source, env config.Lookup) {
	get := func(name string) string { v, _ := env(name); return v }
	_, query, _ := strings.Cut(s.URL, "?")
	own := slices.ContainsFunc(strings.Split(query, "&"), func(p string) bool { return strings.HasPrefix(p, "ca=") && p != "ca=" })
	if strings.HasPrefix(s.Address, "grpcs://") && !own {
		s.TLS.CA = get("YDB_SSL_ROOT_CERTIFICATES_FILE")
	}
	t, _ := ydbcoord.ParseURL(s.URL) // it was parsed before
	switch {
	case t.User != "" || t.Password != "" || t.AccessToken != "" || get("YDB_ANONYMOUS_CREDENTIALS") == "1":
	case get("YDB_ACCESS_TOKEN_CREDENTIALS") != "":
		s.Token.Env = "YDB_ACCESS_TOKEN_CREDENTIALS"
	case get("YDB_STATIC_CREDENTIALS_USER") != "":
		s.User = get("YDB_STATIC_CREDENTIALS_USER")
		if get("YDB_STATIC_CREDENTIALS_PASSWORD") != "" {
			s.Password.Env = "YDB_STATIC_CREDENTIALS_PASSWORD"
		}
	}
}

func ydbSource(h Host, s config.Source, _ map[string]string) (Prepared, error) {
	open := func(secret string) (sources.Source, error) { return openYDB(s, secret, h.Logger(), h.State) }
	_, err := openYDB(s, "", nil, h.State)
	return Prepared{
		Open: open, Space: ydbSpace(s), Place: ydbPlace(s), Names: func(ctx context.Context) []string { return ydbKnown(ctx, s, h.State) },
		Named: func(name string) (config.Source, string, error) { return ydbNamed(s, name) },
		Alone: func(ctx context.Context, path string) (config.Source, string, error) {
			return ydbAlone(ctx, s, path, h.State)
		},
	}, err
}

// ydbClient reads the URL and adds the settings of the config.
func ydbClient(s config.Source, secret string, logger *slog.Logger) (ydbcoord.ClientOptions, error) {
	o, err := ydbcoord.ParseURL(s.URL)
	if err != nil {
		return o, err
	}
	o.Log = logger
	if s.User != "" {
		o.User = s.User
	}
	switch {
	case !s.Token.IsZero():
		o.AccessToken = secret
	case secret != "":
		o.Password = secret
	}
	o.TLSFiles = tlsOf(s, o.TLSFiles)
	return o, nil
}

// openYDB makes a source. It loads the TLS files once, so that a bad one is reported before connecting.
func openYDB(s config.Source, secret string, logger *slog.Logger, state string) (sources.Source, error) {
	if client, err := ydbClient(s, secret, logger); err == nil && client.TLSFiles != nil {
		if _, err := client.TLSFiles.Load(); err != nil {
			return nil, err
		}
	}
	return newYDB(s, secret, logger, state)
}

func newYDB(s config.Source, secret string, logger *slog.Logger, state string) (*ydbsource.Source, error) {
	client, err := ydbClient(s, secret, logger)
	if err != nil {
		return nil, err
	}
	o := ydbsource.Options{
		Name: s.Name, Client: client, Nodes: s.Nodes, PollMin: s.PollMin, PollMax: s.PollMax, Labels: s.Labels,
		Selections: s.Watch,
	}
	for _, f := range s.NameFiles {
		o.Files = append(o.Files, ydbsource.NameFile(f))
	}
	if state != "" && !s.ForgetNames {
		o.Known = knownNames(state, client)
	}
	return ydbsource.New(o)
}

func knownNames(state string, client ydbcoord.ClientOptions) *ydbsource.KnownNames {
	return ydbsource.NewKnownNames(filepath.Join(state, "ydb-names"), client.Address, client.Database)
}

// ydbKnown returns the remembered names on the nodes of a source.
func ydbKnown(ctx context.Context, s config.Source, state string) (names []string) {
	client, err := ydbClient(s, "", nil)
	if err != nil || state == "" {
		return nil
	}
	for _, node := range s.Nodes {
		if path, err := ydbcoord.NodePath(client.Database, node); err == nil {
			for _, name := range knownNames(state, client).Names(ctx, path) {
				names = append(names, ydbName(name))
			}
		}
	}
	return names
}

// ydbName escapes a name for a URL.
func ydbName(name string) string { return escape(strings.ReplaceAll(name, "*", `\*`)) }

// ydbSpace returns the path of the one coordination node of a source; "" unless it has exactly one.
func ydbSpace(s config.Source) string {
	if len(s.Nodes) != 1 {
		return ""
	}
	o, _ := ydbcoord.ParseURL(s.URL) // its error is reported when the source is made
	path, _ := ydbcoord.NodePath(o.Database, s.Nodes[0])
	return path
}

// ydbQuery returns the first parameters of a URL that reaches the same database.
func ydbQuery(raw string) string {
	o, err := ydbcoord.ParseURL(raw)
	if err != nil {
		return ""
	}
	query := ""
	if strings.Trim(urlOf(config.Source{URL: raw}).Path, "/") == "" {
		query += "database=" + escape(o.Database) + "&"
	}
	if o.NoDiscovery {
		query += "discovery=off&"
	}
	return query
}

// ydbLease is the time for which the service keeps our leases after it lost our session.
const ydbLease = 10 * time.Second

func ydbDriver(h Host, s config.Source, b *operate.Backend) {
	b.Caps = ydbcoord.Options{}.Caps()
	b.Nameless, b.RunsOut, b.Lease, b.CheckLease = true, true, ydbLease, ydbcoord.CheckTTL
	b.Enqueues, b.Doubts = true, 2 // the service must first notice that we are gone
	if o, err := ydbClient(s, "", nil); err == nil {
		b.Login = o.User
	}
	used := explained(b, func(err error, o ydbcoord.ClientOptions) error { return ydbsource.Explain(err, o, false) })
	b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
		o, err := ydbOptions(ctx, h, s)
		if err != nil {
			return nil, err
		}
		used.Store(&o)
		driver, err := ydbcoord.NewDriver(o, space, ydbcoord.Options{
			TTL: ydbLease, Incarnations: true, ClientsUnprotected: s.ClientsUnprotected, AllowRecreate: s.AllowRecreate,
		})
		if err != nil {
			return nil, err
		}
		return driver, nil
	}
	b.Provisions = true
	b.Nodes = ydbNodeCalls(h, s)
	b.Force = ydbForce(s)
	b.Call = func(r action.Request) string {
		switch {
		case r.Verb == action.Release:
			return ydbForceCall(s, r.Target)
		case action.Of(r.Verb).Space:
			return ydbNodeCall(r)
		case r.Force:
			return "describe_semaphore " + strconv.Quote(r.Target.Ref.Name) + ", delete_semaphore " + strconv.Quote(r.Target.Ref.Name) + " with force"
		}
		return sent(ydbcoord.Options{}.Wire)(r)
	}
	b.Refuses = func(row *sources.Primitive) string {
		switch {
		case row.Kind == sources.KindElection && !row.Absent && row.Limit > 1:
			return fmt.Sprintf("its limit is %d: an election is a semaphore of limit 1", sources.Permits(row.Limit))
		case row.Kind == sources.KindMutex && !row.At.IsZero() && !row.Ephemeral:
			return "it is a lasting semaphore: a mutex is an ephemeral one; watch it with semaphore= or election="
		}
		return reason(ydbcoord.CheckName(row.Name))
	}
}

// ydbOptions returns the options of a client, with the secret.
func ydbOptions(ctx context.Context, h Host, s config.Source) (ydbcoord.ClientOptions, error) {
	secret, err := secretOf(ctx, h, s)
	if err != nil {
		return ydbcoord.ClientOptions{}, err
	}
	return ydbClient(s, secret, h.Logger())
}

// ydbForce ends what others own on YDB. That is possible only if the source has clients_unprotected or allow_recreate.
func ydbForce(s config.Source) *operate.Force {
	return &operate.Force{
		WholeSession: s.ClientsUnprotected, AllOwners: !s.ClientsUnprotected,
		NoCancel: "only its own session can leave the queue, and stopping that would end all that it owns: its program or its timeout ends the wait",
		Refuses: func(row *sources.Row, _ *sources.Owner) string {
			switch {
			case s.ClientsUnprotected:
				return ""
			case !s.AllowRecreate:
				return "it ends when its program ends or is cut off (JavaScript and Python 30 to 40 s later, Go 7 to 9 s), " +
					"never while that answers; the config may allow more: clients_unprotected, allow_recreate"
			case row.Ephemeral:
				return "it is ephemeral, as every mutex, and cannot be deleted: it ends with its owner's session; the config may allow more: clients_unprotected"
			}
			return ""
		},
		Effect: func(row *sources.Row, _ *sources.Owner) []string {
			if s.ClientsUnprotected {
				return []string{
					"Only for owners without a protection key (JavaScript, Python). In Go, C++, Java and Rust nothing is released, but the owner's connection may be cut: " +
						"Rust then loses its session, and an owner that does not attach again owns until the node's tablet restarts.",
					"Attaches to the session of its owner and stops it. The owner is read just before; what changes in that instant is lost.",
					"The owner's library notices at once: JavaScript and Python report that the session has expired. Its program may go on working.",
				}
			}
			return []string{
				fmt.Sprintf("Deletes the semaphore for all its owners (%d) and waiters (%d), and creates it again with limit %d and its data (%d bytes).",
					len(row.Owners), row.Queue.Len, sources.Permits(row.Limit), row.Data.Len),
				"YDB tells owners nothing: they go on working until they ask, and a proclamation of theirs may still be written to the new semaphore.",
				"YDB compares nothing: the owner is read just before; what changes in that instant is lost. Claims in between are answered NOT_FOUND.",
			}
		},
	}
}

// ydbForceCall describes in one line what a force-release sends.
func ydbForceCall(s config.Source, t action.Target) string {
	name := strconv.Quote(t.Ref.Name)
	if s.ClientsUnprotected {
		session, _, _ := strings.Cut(t.Guard, "/")
		return "describe_semaphore " + name + ", session_start of session " + session + " without a key, session_stop"
	}
	return "describe_semaphore " + name + ", delete_semaphore " + name + " with force, create_semaphore " + name
}
