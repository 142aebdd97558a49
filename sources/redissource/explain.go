package redissource

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/respwire"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

var errNoScan = errors.New("no right to scan")

// noReadError reports that the selected keys may not be read; lacks are the missing rights.
type noReadError struct{ lacks string }

// Error implements error.
func (e *noReadError) Error() string { return "no right to read: " + e.lacks }

// words has the product names and URL hints for Redis. It never changes.
var words = kit.Words{
	Product: "a Redis server", NoTLS: "write redis:// instead of rediss://", OnlyTLS: "write rediss://",
	Authority: "tls: {ca: FILE}", Certificate: "tls: {cert: FILE, key: FILE}",
	Password: "it with password_env, password_file or in the URL", Full: "its maxclients",
}

// Explain turns an error of a connection with the options o into a sentence. silence is the time-out for an answer;
// opening is false after the server has answered.
func Explain(err error, o rediscoord.ClientOptions, silence time.Duration, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) || errors.Is(err, spawn.ErrPanic) {
		return err
	}
	c := kit.Contact{
		Words: words, Where: strings.Join(o.Addrs, ", "), User: cmp.Or(o.User, "default"), Database: strconv.Itoa(o.DB),
		Secrets: []string{o.Password, o.SentinelPassword}, TLS: o.TLS != nil || o.TLSFiles != nil, Opening: opening, Silence: silence,
	}
	var liar *respwire.Error
	var noRead *noReadError
	var master *rediscoord.MasterError
	var sentinel *sentinelError
	var said redis.Error
	if errors.As(err, &master) {
		c.Where = master.Addr
	}
	asked := o.Topology == rediscoord.Sentinel && opening && master == nil // whether the Sentinels answered, not the server
	is := func(f sources.Failure) error { return c.Problem(f, err, said.Error()) }
	switch {
	case errors.Is(err, errNoScan):
		return sources.Final(err, "the user may not scan for patterns: give it +scan, or name each key")
	case errors.As(err, &noRead) && noRead.lacks == allRights:
		return sources.Final(err, "the user may not read the selected keys: give it %s and %%R~ with their names", noRead.lacks)
	case errors.As(err, &noRead):
		return sources.Final(err, "the user may not read keys: give it %s", noRead.lacks)
	case errors.As(err, &liar):
		c.Where = liar.Addr // may be the master, if Sentinels named it
		return c.Problem(sources.Lies, err, liar.What)
	case errors.As(err, &sentinel):
		scheme := "redis"
		if c.TLS {
			scheme = "rediss"
		}
		return sources.Final(err, "%s is a Sentinel, which has no keys: write %s+sentinel://%s/%s", c.Where, scheme, c.Where, cmp.Or(format.Clean(sentinel.master, 100), "MASTER"))
	case errors.Is(err, errTwoServers):
		return sources.Passing(err, "%s leads to more than one server: give the address of one", c.Where)
	case asked && errors.Is(err, redis.Nil):
		return sources.Final(err, "the Sentinels at %s know no master %q: check the name behind the hosts", c.Where, o.Master)
	case !errors.As(err, &said):
		switch p := c.Unreached(err); {
		case p == nil:
		case master == nil || errors.Is(p, sources.ErrRefused) || errors.Is(err, context.Canceled) || errors.Is(err, kit.ErrClosed):
			return p
		default:
			return sources.Passing(p, "the master %q at %s cannot be reached: a failover is awaited, the Sentinels name no other yet", o.Master, format.Clean(master.Addr, 300))
		}
		if opening {
			return c.Problem(sources.Foreign, err, "")
		}
		return c.Problem(sources.Broken, err, err.Error())
	case redis.HasErrorPrefix(err, "WRONGPASS"):
		return is(sources.WrongPassword)
	case redis.IsAuthError(err) && o.Password == "":
		return is(sources.NoPassword)
	case redis.IsAuthError(err), redis.HasErrorPrefix(err, "DENIED"):
		return is(sources.NotLetIn)
	case redis.IsPermissionError(err):
		return is(sources.NoRight)
	case redis.IsLoadingError(err), redis.IsMasterDownError(err):
		return is(sources.NotNow)
	case redis.IsMaxClientsError(err):
		return is(sources.Full)
	case errors.Is(err, errDatabase):
		return is(sources.NoDatabase)
	case asked && redis.HasErrorPrefix(err, "unknown command"):
		return sources.Final(err, "the server at %s is not a Sentinel: those use port 26379; for the Redis itself write redis://", c.Where)
	}
	return is(sources.Refuses)
}
