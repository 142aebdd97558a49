package redissource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/respwire"
	"coordtop/internal/spawn"
	"coordtop/sources"
)

var (
	errNoScan = errors.New("no right to scan")
	errNoRead = errors.New("no right to read")
)

// roleError says that a failover made another server of this one.
type roleError struct{ was, is string }

// Error names both roles.
func (e *roleError) Error() string {
	return fmt.Sprintf("the server was a %s and is a %s now", e.was, e.is)
}

// explain turns an error into a sentence. opening is false once the server had answered.
func explain(err error, o rediscoord.ClientOptions, silence time.Duration, opening bool) error {
	if err == nil || errors.As(err, new(*sources.Problem)) {
		return err
	}
	where := strings.Join(o.Addrs, ", ")
	final := func(format string, args ...any) error {
		return &sources.Problem{Text: fmt.Sprintf(format, args...), Cause: err, Refused: true}
	}
	passing := func(format string, args ...any) error {
		return &sources.Problem{Text: fmt.Sprintf(format, args...), Cause: err}
	}
	var db *selectError
	var role *roleError
	var liar *respwire.Error
	var said redis.Error
	switch {
	case errors.Is(err, rediscoord.ErrCluster):
		return final("a cluster cannot be watched as a whole yet: name its masters one by one, each as redis://host:port")
	case errors.Is(err, errNoScan):
		return final("the user may not scan for patterns: give it +scan, or name each key")
	case errors.Is(err, errNoRead):
		return final("the user may not read the selected keys: give it +pttl +strlen +getrange and %%R~ with their names")
	case errors.Is(err, spawn.ErrPanic):
		return err
	case errors.As(err, &liar):
		return final("%s", liar.Error())
	case errors.Is(err, errElsewhere):
		return passing("%s leads to more than one server: give the address of one", where)
	case errors.As(err, &role):
		return passing("%s", role.Error())
	case o.Topology == rediscoord.Sentinel && opening && errors.Is(err, redis.Nil):
		return final("the Sentinels at %s know no master %q: check the name behind the hosts", where, o.Master)
	case errors.As(err, &db) && errors.As(err, &said) && !redis.IsAuthError(err) && !redis.IsPermissionError(err):
		return final("the server at %s has no database %d: check the number at the end of the URL", where, o.DB)
	case o.Topology == rediscoord.Sentinel && opening && redis.HasErrorPrefix(err, "unknown command"):
		return final("the server at %s is no Sentinel: those use port 26379; for the Redis itself write redis://", where)
	case errors.As(err, &said):
		return explainReply(err, said, where, o.Password != "", final, passing)
	}
	return explainLink(err, where, o.TLS != nil, silence, opening, final, passing)
}

type sentence func(format string, args ...any) error

// explainReply is about what the server answered.
func explainReply(err error, said redis.Error, where string, password bool, final, passing sentence) error {
	login := func(format string, args ...any) error {
		return &sources.Problem{Text: fmt.Sprintf(format, args...), Cause: err, Refused: true, Login: true}
	}
	switch {
	case redis.HasErrorPrefix(err, "WRONGPASS"):
		return login("the server at %s refuses this user or password: check both", where)
	case redis.IsAuthError(err) && !password:
		return login("the server at %s wants a password: give it with password_env, password_file or in the URL", where)
	case redis.IsAuthError(err):
		return login("the server at %s refuses the login: check user and password", where)
	case redis.IsPermissionError(err):
		return final("a right is missing at %s: %s", where, said.Error())
	case redis.IsLoadingError(err):
		return passing("the server at %s is still loading its data", where)
	case redis.IsMasterDownError(err):
		return passing("the replica at %s has lost its master and gives no answers", where)
	case redis.IsMaxClientsError(err):
		return passing("the server at %s has no connection left for us: see its maxclients", where)
	}
	return passing("the server at %s refuses: %s", where, said.Error())
}

// advice is for Redis. Nobody changes it.
var advice = sources.Advice{NoTLS: "write redis:// and not rediss://", Authority: "tls: {ca: FILE}"}

// explainLink is about what kept an answer from coming.
func explainLink(err error, where string, encrypted bool, silence time.Duration, opening bool, final, passing sentence) error {
	if p := sources.Unreached(err, where, advice); p != nil {
		return p
	}
	var op *net.OpError
	var timeout net.Error
	switch {
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		if opening && encrypted {
			return passing("no answer from %s: check host and port, and whether it speaks TLS (else write redis://)", where)
		}
		if opening {
			return passing("no answer from %s: check host and port, and what lies between", where)
		}
		return passing("no answer from %s for %v", where, silence)
	case errors.As(err, &op) && op.Op == "remote error", opening && encrypted && sources.HungUp(err):
		return passing("the server at %s breaks off TLS: it may want a certificate of ours: tls: {cert: FILE, key: FILE}", where)
	case sources.HungUp(err):
		if opening {
			return passing("%s closes the connection at once: it may want TLS (rediss://), have too many clients (maxclients), or be no Redis", where)
		}
		return passing("%s closed the connection", where)
	case errors.As(err, &timeout):
		return passing("%s cannot be reached: %v", where, err)
	case opening:
		return final("%s is not a Redis server: check host and port", where)
	}
	return passing("the connection to %s broke: %v", where, err)
}
