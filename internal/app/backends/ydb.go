package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/internal/certs"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/ydbsource"
)

// ydbClient reads the URL and adds what stands beside it in the config.
func ydbClient(s config.Source, secret string, logger *slog.Logger) (ydbcoord.ClientOptions, error) {
	o, err := ydbcoord.ParseURL(s.URL)
	if errors.Is(err, ydbcoord.ErrParameter) {
		return o, fmt.Errorf("%w: of the connection there are database, discovery, access_token and with grpcs ca, cert, key, "+
			"server_name; to select there are node=, election=, mutex= and semaphore=", err)
	}
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
	if s.TLS != (certs.Files{}) {
		files := s.TLS
		if o.TLS != nil {
			files = files.Over(*o.TLS)
		}
		o.TLS = &files
	}
	return o, nil
}

// openYDB makes a source. It reads the TLS files once, so that one that cannot be used is
// told before anybody connects.
func openYDB(s config.Source, secret string, logger *slog.Logger) (sources.Source, error) {
	client, err := ydbClient(s, secret, logger)
	if err != nil {
		return nil, err
	}
	if client.TLS != nil {
		if _, err := client.TLS.Load(); err != nil {
			return nil, err
		}
	}
	o := ydbsource.Options{
		Name: s.Name, Client: client, Nodes: s.Nodes, PollMin: s.PollMin, PollMax: s.PollMax, Labels: labels(s),
	}
	for _, w := range s.Watch {
		o.Selections = append(o.Selections, ydbsource.Selection{Node: w.Node, Name: w.Pattern, Kind: w.Kind, Expected: w.Expected})
	}
	return ydbsource.New(o)
}

// checkYDB reports what a person has to write in another way.
func checkYDB(s config.Source) error {
	_, err := openYDB(s, "", nil)
	return err
}

// ydbSpace is the path of the one coordination node that a URL names; "" if there is not
// exactly one.
func ydbSpace(s config.Source) string {
	if len(s.Nodes) != 1 {
		return ""
	}
	o, err := ydbcoord.ParseURL(s.URL)
	if path := s.Nodes[0]; err == nil && !strings.HasPrefix(path, "/") {
		return o.Database + "/" + strings.TrimRight(path, "/")
	}
	return strings.TrimRight(s.Nodes[0], "/")
}

// ydbQuery is the beginning of the parameters of a URL that reaches the same database.
func ydbQuery(raw string) string {
	query := "?"
	t, err := config.ParseURL(raw)
	o, err2 := ydbcoord.ParseURL(raw)
	if err != nil || err2 != nil {
		return query
	}
	if strings.Trim(t.Path, "/") == "" {
		query += "database=" + escape(o.Database) + "&"
	}
	if o.NoDiscovery {
		query += "discovery=off&"
	}
	return query
}

// ydbLease is how long the service keeps what a session of ours owns after it lost us.
const ydbLease = 10 * time.Second

func (p *program) ydbBackend(b *operate.Backend, s config.Source) {
	b.Caps = coord.Caps{Mutex: true, Semaphore: true, Election: true, Ephemeral: true, OneFate: true, Fence: true, FIFO: true, MaxData: 1 << 20}
	b.Nameless, b.RunsOut, b.Lease = true, true, ydbLease
	if o, err := ydbClient(s, "", nil); err == nil {
		b.Login = o.User
	}
	var used atomic.Pointer[ydbcoord.ClientOptions] // by the newest driver
	b.Explain = func(err error) error {
		if o := used.Load(); o != nil {
			return ydbsource.Explain(err, *o, false)
		}
		return err
	}
	b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
		o, err := p.ydbOptions(ctx, s)
		if err != nil {
			return nil, err
		}
		used.Store(&o)
		client, err := ydbcoord.NewClient(o)
		if err != nil {
			return nil, err
		}
		driver, err := client.Driver(space, ydbcoord.Options{TTL: ydbLease, Incarnations: true})
		if err != nil {
			return nil, err
		}
		return ownClient{driver, client}, nil
	}
	b.Provisions = true
	b.NoSpace = func(row *sources.Primitive) bool { return row.Note == ydbsource.NoNode }
	b.CreateNode = func(ctx context.Context, space string) error {
		client, err := p.ydbConnect(ctx, s)
		if err != nil {
			return err
		}
		err = client.Nodes().Create(ctx, space, ydbcoord.NodeConfig{})
		return errors.Join(err, client.Close(ctx))
	}
	b.Call = ydbCall
	b.Refuses = func(row *sources.Primitive) string {
		switch {
		case row.Kind == sources.KindElection && !row.Absent && row.Limit > 1:
			return fmt.Sprintf("its limit is %d: an election is a semaphore of limit 1", row.Limit)
		case row.Kind == sources.KindMutex && !row.At.IsZero() && !row.Ephemeral:
			return "it is a lasting semaphore: a mutex is an ephemeral one; watch it with semaphore= or election="
		}
		return ""
	}
}

// ydbOptions are those of a client, with the password.
func (p *program) ydbOptions(ctx context.Context, s config.Source) (ydbcoord.ClientOptions, error) {
	secret, err := s.Secret().Resolve(ctx, p.env.Lookup)
	if err != nil {
		return ydbcoord.ClientOptions{}, fmt.Errorf("finding the password: %w", err)
	}
	return ydbClient(s, secret, p.logger())
}

// ydbConnect makes a client, which connects when it is used.
func (p *program) ydbConnect(ctx context.Context, s config.Source) (*ydbcoord.Client, error) {
	o, err := p.ydbOptions(ctx, s)
	if err != nil {
		return nil, err
	}
	return ydbcoord.NewClient(o)
}

// ownClient is a driver whose client is its own.
type ownClient struct {
	*ydbcoord.Driver
	client *ydbcoord.Client
}

// Close closes both.
func (o ownClient) Close(ctx context.Context) error {
	return errors.Join(o.Driver.Close(ctx), o.client.Close(ctx))
}

// ydbCall is what the driver sends: see coord/ydbcoord.
func ydbCall(r action.Request) string {
	name := strconv.Quote(r.Target.Ref.Name)
	count, ephemeral := strconv.FormatUint(max(r.Permits, 1), 10), ""
	if r.Target.Kind == sources.KindMutex {
		count, ephemeral = "all permits", ", ephemeral"
	}
	data := ""
	if len(r.Data) > 0 {
		data = " with the data " + strconv.Quote(cutText(string(r.Data)))
	}
	switch r.Verb {
	case action.Acquire, action.Campaign:
		return fmt.Sprintf("acquire_semaphore %s, count %s%s%s, in a session of its own", name, count, ephemeral, data)
	case action.Try:
		return fmt.Sprintf("acquire_semaphore %s, count %s%s, timeout 0%s, in a session of its own", name, count, ephemeral, data)
	case action.Proclaim:
		return fmt.Sprintf("acquire_semaphore %s once more, timeout 0%s", name, data)
	case action.Resign:
		return "release_semaphore " + name
	case action.Create:
		return fmt.Sprintf("create_semaphore %s, limit %d%s", name, max(r.Limit, 1), data)
	case action.Update:
		return fmt.Sprintf("update_semaphore %s%s", name, data)
	case action.Delete:
		return "delete_semaphore " + name + ", without force"
	case action.CreateNode:
		return "CreateNode " + strconv.Quote(r.Target.Ref.Space)
	}
	return r.Verb.String()
}
