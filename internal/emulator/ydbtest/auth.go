package ydbtest

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"sync"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Auth_V1"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Auth"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Rights are a user's rights to coordination nodes and directories.
type Rights uint8

// The rights: Read is needed to describe semaphores; Write to acquire, release, create
// and update them, and to make and alter coordination nodes and directories; Erase to
// delete semaphores, nodes and directories; List to list and describe paths and nodes.
const (
	Read Rights = 1 << iota
	Write
	Erase
	List
)

// User is a user who can log in with a password.
type User struct {
	Password string
	Deny     Rights // rights that the user lacks; zero: none
}

const (
	ticketHeader = "x-ydb-auth-ticket"
	ticketLife   = 12 * time.Hour
)

// tickets issues and checks the tickets that a login returns. A ticket is a JSON web token, because the Go driver reads
// its expiry. check compares it with the tickets that were issued, not with a signature.
type tickets struct {
	users map[string]User

	mu     sync.Mutex
	issued map[string]claims
}

func newTickets(users map[string]User) *tickets {
	if len(users) == 0 {
		return nil
	}
	return &tickets{users: users, issued: map[string]claims{}}
}

type claims struct {
	Subject  string `json:"sub"`
	IssuedAt int64  `json:"iat"`
	Expires  int64  `json:"exp"`
}

func (t *tickets) issue(login string, now time.Time) string {
	c := claims{Subject: login, IssuedAt: now.Unix(), Expires: now.Add(ticketLife).Unix()}
	body, _ := json.Marshal(c) // a string and numbers
	encode := base64.RawURLEncoding.EncodeToString
	ticket := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode(body) + "." + rand.Text()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.issued[ticket] = c
	return ticket
}

// check returns the user of a ticket. It returns false if the ticket was not issued here, or is too old.
func (t *tickets) check(ticket string, now time.Time) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ours := t.issued[ticket]
	return c.Subject, ours && now.Before(time.Unix(c.Expires, 0))
}

// auth serves Ydb.Auth.V1.AuthService.
type auth struct {
	Ydb_Auth_V1.UnimplementedAuthServiceServer
	server *Server
}

// Login implements AuthServiceServer. On a server without users every login fails.
func (a *auth) Login(ctx context.Context, req *Ydb_Auth.LoginRequest) (*Ydb_Auth.LoginResponse, error) {
	op := a.server.operate(ctx, 0, func(*cluster) (proto.Message, *refusal) {
		wrong := &refusal{Ydb.StatusIds_UNAUTHORIZED, "no such user or another password"}
		if a.server.tickets == nil {
			return nil, wrong
		}
		user, ok := a.server.tickets.users[req.GetUser()]
		if !ok || subtle.ConstantTimeCompare([]byte(user.Password), []byte(req.GetPassword())) == 0 {
			return nil, wrong
		}
		return &Ydb_Auth.LoginResult{Token: a.server.tickets.issue(req.GetUser(), time.Now())}, nil
	})
	return &Ydb_Auth.LoginResponse{Operation: op}, nil
}

// identity is the user that makes a call, with the user's rights.
type identity struct {
	login  string
	rights Rights
}

type identityKey struct{}

// identify returns a context with the identity of the caller. If users are configured, a call without a valid ticket
// ends with UNAUTHENTICATED. With a nil t everybody has all rights.
func (t *tickets) identify(ctx context.Context) (context.Context, error) {
	who := identity{rights: Read | Write | Erase | List}
	if t != nil {
		var ticket string
		if values := metadata.ValueFromIncomingContext(ctx, ticketHeader); len(values) > 0 {
			ticket = values[0]
		}
		login, ok := t.check(ticket, time.Now())
		if !ok {
			return nil, status.Error(codes.Unauthenticated, "access denied")
		}
		who = identity{login: login, rights: who.rights &^ t.users[login].Deny}
	}
	return context.WithValue(ctx, identityKey{}, who), nil
}

func identityOf(ctx context.Context) identity {
	who, _ := ctx.Value(identityKey{}).(identity)
	return who
}

func (t *tickets) unaryLogin(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if info.FullMethod == Ydb_Auth_V1.AuthService_Login_FullMethodName {
		return handler(ctx, req)
	}
	ctx, err := t.identify(ctx)
	if err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (t *tickets) streamLogin(srv any, call grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, err := t.identify(call.Context())
	if err != nil {
		return err
	}
	return handler(srv, &identified{ServerStream: call, ctx: ctx})
}

// identified is a stream whose context knows the caller.
type identified struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *identified) Context() context.Context { return s.ctx }
