package app

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/app/logfile"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// deaf returns an address that takes connections and says nothing.
func deaf(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestAYDBThatCannotBeReadIsExplained(t *testing.T) {
	t.Parallel()
	open := ydbForTest(t, ydbtest.Options{})
	permits(t, peer(t, open, "a"), "quota", 1, "4242")
	locked := ydbForTest(t, ydbtest.Options{Users: map[string]ydbtest.User{"mary": {Password: "hunter2"}}})
	files := localserver.RedisForTest(t, localserver.RedisOptions{TLS: true}).TLSFiles()
	pair, err := tls.LoadX509KeyPair(filepath.Join(filepath.Dir(files.CA), "server.crt"), filepath.Join(filepath.Dir(files.CA), "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	sealed := ydbForTest(t, ydbtest.Options{TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	working := open.URL(0) + "?node=" + ydbNode + "&semaphore=quota"
	const query = "/local?node=/local/app&semaphore=quota"
	for _, c := range []struct {
		name, url string
		want      []string
	}{
		{"nobody listens", "grpc://" + localserver.RefusingForTest(t) + query, []string{"did not answer", "nothing listens at"}},
		{"no such host", "grpc://host.invalid:2139" + query, []string{"host.invalid did not answer"}},
		{"a wrong password", "grpc://mary:wrong-pass@" + locked.Endpoint(0) + query, []string{"refused our credentials: ", "refuses the password of mary"}},
		{"no password", "grpc://" + locked.Endpoint(0) + query, []string{"refused our credentials: ", "wants a password"}},
		{"no TLS there", "grpcs://" + open.Endpoint(0) + query, []string{"cannot be watched: ", "speaks no TLS: write grpc:// instead of grpcs://"}},
		{"an authority that is not ours", "grpcs://" + sealed.Endpoint(0) + query, []string{"cannot be watched: ", "authority that is not trusted"}},
		{"TLS there", "grpc://" + sealed.Endpoint(0) + query, []string{"cannot be watched: ", "speaks only TLS: write grpcs:// instead of grpc://"}},
		{"no such database", open.URL(0) + "x", []string{"cannot be watched: the server at " + open.Endpoint(0) + " has no database /localx: check it in the URL"}},
		{"no answer", "grpc://" + deaf(t) + query, []string{"did not answer"}},
		{"another program", "grpc://" + localserver.RedisForTest(t, localserver.RedisOptions{}).Addr() + query, []string{"cannot be watched: ", "is a Redis server: write redis://, or check host and port"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			code := w.main(t.Context(), "get", "--timeout", "6s", c.url, working)
			explained(t, w, code, c.want)
		})
	}
	t.Run("with its authority", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.write(t, configFile, fmt.Sprintf("sources: [{url: 'grpcs://%s/local', tls: {ca: %s}, watch: [{semaphore: quota, node: app}]}]", sealed.Endpoint(0), files.CA))
		if code := w.main(t.Context(), "get"); code != exitOK || !strings.Contains(w.stdout.String(), "quota") {
			t.Errorf("exit code %d: %s%s", code, w.stdout, w.stderr)
		}
	})
	t.Run("with a password from a file", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.write(t, ".config/coordtop/pw", "hunter2\n")
		w.write(t, configFile, fmt.Sprintf("sources: [{url: '%s', user: mary, password_file: pw, watch: [{semaphore: quota, node: app}]}]", locked.URL(0)))
		if code := w.main(t.Context(), "get"); code != exitOK || !strings.Contains(w.stdout.String(), "quota") {
			t.Errorf("exit code %d: %s%s", code, w.stdout, w.stderr)
		}
	})
}

func TestANodeThatIsNotThereIsSaidToBe(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	for _, node := range []string{"/local/none", "/local"} { // the second is no coordination node
		w := newWorld(t)
		code := w.main(t.Context(), "get", s.URL(0)+"?node="+node+"&semaphore=quota")
		if text := w.stdout.String(); code != exitNotFound || !strings.Contains(text, "there is no such coordination node") {
			t.Errorf("%s: exit code %d, said %s%s", node, code, text, w.stderr)
		}
	}
}

func TestNothingOfTheLibrariesReachesTheTerminal(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	cmd := command(t, "watch", s.URL(0)+"?node="+ydbNode+"&semaphore=quota")
	cmd.Env = append(cmd.Env, "YDB_LOG_SEVERITY_LEVEL=trace", "GRPC_GO_LOG_SEVERITY_LEVEL=info", "GRPC_GO_LOG_VERBOSITY_LEVEL=99")
	out, errs := newStream(), newStream()
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.await(t, func(text string) bool { return strings.Contains(text, "synced") })
	s.Refuse(0, true)
	s.Refuse(1, true)
	out.await(t, func(text string) bool { return strings.Contains(text, "source_down") })
	s.Refuse(0, false)
	s.Refuse(1, false)
	out.await(t, func(text string) bool { return strings.Count(text, "source_up") > 1 })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitOK || errs.String() != "" {
		t.Errorf("exit code %d, on the terminal: %s", code, errs)
	}
	home := ""
	for _, v := range cmd.Env {
		if dir, ok := strings.CutPrefix(v, "HOME="); ok {
			home = dir
		}
	}
	log, err := os.ReadFile(filepath.Join(home, ".local", "state", "coordtop", logfile.Name))
	if err != nil || !strings.Contains(string(log), " library") {
		t.Errorf("the log has nothing of them: %v\n%s", err, log)
	}
}
