package localserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

func TestTLSServerIsTrustedByItsOwnAuthorityOnly(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, clientCert := range []bool{false, true} {
		r := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true, ClientCert: clientCert})
		files := r.TLSFiles()
		pem, err := os.ReadFile(files.CA)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(pem)
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			config *tls.Config
			want   bool
		}{
			"own authority and certificate": {&tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}, true},
			"own authority":                 {&tls.Config{RootCAs: roots}, !clientCert},
			"system authorities":            {&tls.Config{Certificates: []tls.Certificate{pair}}, false},
		} {
			o, err := redis.ParseURL(r.URL())
			if err != nil {
				t.Fatal(err)
			}
			o.TLSConfig, o.MaxRetries = c.config, -1
			o.TLSConfig.ServerName = "127.0.0.1"
			conn := redis.NewClient(o)
			if err := conn.Ping(ctx).Err(); (err == nil) != c.want {
				t.Errorf("client certificate asked %v, %s: %v, want success %v", clientCert, name, err, c.want)
			}
			conn.Close()
		}
	}
}
