package identify

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"time"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/spawn"
)

// Product is a kind of server, as a noun for a sentence.
type Product string

// The kinds that are distinguished. Unknown means that nothing answers, or that the answer fits none of them.
const (
	Unknown  Product = ""
	Redis    Product = "a Redis server"
	Postgres Product = "a Postgres server"
	GRPC     Product = "a gRPC server, as YDB is"
	Dflockd  Product = "a dflockd server"
	Web      Product = "a web server"
)

// Scheme returns the beginning of the URL of such a server; "" if no source can watch it.
func (p Product) Scheme() string {
	return map[Product]string{Redis: "redis://", Postgres: "postgres://", GRPC: "grpc://", Dflockd: "dflockd://"}[p]
}

const (
	patience = time.Second            // of a connect, before the server is asked
	limit    = 500 * time.Millisecond // for each question
	enough   = 16                     // bytes of an answer
)

// SSLRequest is the first message of a Postgres client that prefers TLS; the server answers S or N.
var SSLRequest = []byte{0, 0, 0, 8, 4, 210, 22, 47}

// Server asks what listens at addr (host:port, or the path of a socket), without TLS. The Postgres question comes
// first, because a Postgres server would log the other question. It blocks for at most a second.
func Server(ctx context.Context, addr string) Product {
	if answer := ask(ctx, addr, SSLRequest); len(answer) == 1 && (answer[0] == 'S' || answer[0] == 'N') {
		return Postgres
	} else if p := spoken(answer); p != Unknown {
		return p
	}
	return spoken(ask(ctx, addr, []byte("PING\r\n\r\n\r\n")))
}

// spoken recognizes a kind by the first bytes of its answer. Redis answers an inline command, a web server answers a
// line that it does not understand, dflockd answers three lines that are neither a request nor a login, and HTTP/2
// begins by itself with its settings.
func spoken(answer []byte) Product {
	switch {
	case bytes.HasPrefix(answer, []byte("+PONG")), bytes.HasPrefix(answer, []byte("-NOAUTH")), bytes.HasPrefix(answer, []byte("-DENIED")):
		return Redis
	case bytes.HasPrefix(answer, []byte("HTTP/1")), bytes.HasPrefix(bytes.ToLower(answer), []byte("<!doctype")), bytes.HasPrefix(bytes.ToLower(answer), []byte("<html")):
		return Web
	case len(answer) >= 9 && answer[0] == 0 && answer[3] == 4 && bytes.Equal(answer[5:9], make([]byte, 4)): // SETTINGS of stream 0
		return GRPC
	case string(answer) == "error\n", string(answer) == "error_auth\n":
		return Dflockd
	}
	return Unknown
}

// ask sends a question and returns the first bytes of the answer; nothing if there is no answer.
func ask(ctx context.Context, addr string, question []byte) []byte {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, address.Network(addr), addr)
	if err != nil {
		return nil
	}
	defer conn.Close()
	stop := spawn.OnDone(ctx, func() { _ = conn.Close() }) // it ends the reading
	defer stop()
	if _, err := conn.Write(question); err != nil {
		return nil
	}
	answer := make([]byte, enough)
	n, _ := io.ReadAtLeast(conn, answer, 1)
	if n > 1 || n == 0 {
		return answer[:n]
	}
	more, _ := io.ReadAtLeast(conn, answer[1:], 9-1) // the first byte of HTTP/2 says nothing
	return answer[:1+more]
}

// WhileConnecting calls connect. If connect fails with a strange error, or takes longer than a second, WhileConnecting
// finds out the kind of the server at addr. If that is known and not want, connect is cancelled and other is that kind.
// err is the error of connect. With addr "" nothing is asked. A connection that connect makes may live as long as ctx.
func WhileConnecting(ctx context.Context, addr string, want Product, strange func(error) bool, connect func(context.Context) error) (other Product, err error) {
	if addr == "" {
		return Unknown, connect(ctx)
	}
	connecting, callOff := context.WithCancel(ctx)
	asking, stopAsking := context.WithCancel(ctx)
	defer stopAsking()
	over, asked := make(chan struct{}), false
	var beside sync.WaitGroup
	spawn.Go(ctx, &beside, func() {
		select {
		case <-over:
			return
		case <-time.After(patience):
		}
		asked = true
		if other = Server(asking, addr); other != Unknown && other != want {
			callOff()
		}
	})
	err = connect(connecting)
	close(over)
	if err == nil {
		stopAsking()
	}
	beside.Wait()
	if err != nil && !asked && ctx.Err() == nil && strange(err) {
		other = Server(ctx, addr)
	}
	if err == nil || other == want {
		other = Unknown
	}
	return other, err
}
