package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/ground/raced"
)

// markers are passwords that nothing of ours looks like, with all that is special in a URL, in
// YAML, in a shell and in a terminal.
func markers() []string {
	return []string{
		"Xq7vZk2mWp9tRb4n", "zqxjkvbwpmzqxj", "ZQXJKVBWPMZQXJ", "Zq@xj:kv/bw?pm#zq%xj&vk=wb+", "zq xj\tkv bw pm zq", `zq"xj'kv\bw` + "`pm$zq", "żqxjkvбвпмzqж漢字",
		"[zqxj]{kvbw},*pm&zq!xj|kv>", "%7A%71zqxjkvbw%2", "zqxj\nkvbwpmzq\nxj", "17493058261749305826", "-zqxjkvbw--pmzqxj", "zqxjkvbw\x1b]0;pmzqxj\a",
	}
}

// needles are the pieces of a marker, also written in other ways, of which none may be found.
func needles(marker string) []string {
	quoted := strconv.Quote(marker)
	ascii := strconv.QuoteToASCII(marker)
	inJSON, err := json.Marshal(marker)
	if err != nil {
		panic(err)
	}
	var list []string
	for _, text := range []string{
		marker, strings.ToLower(marker), url.QueryEscape(marker), url.PathEscape(marker), url.UserPassword("", marker).String(),
		quoted[1 : len(quoted)-1], ascii[1 : len(ascii)-1], string(inJSON[1 : len(inJSON)-1]),
	} {
		runes := []rune(text)
		for i := range max(len(runes)-7, 0) {
			if piece := string(runes[i : i+8]); !slices.Contains(list, piece) {
				list = append(list, piece)
			}
		}
	}
	return list
}

// spelling is one way to configure the program.
type spelling struct {
	args   []string
	vars   map[string]string
	config string // "": no file
}

// misspelt writes an address of a server with the marker in it, mostly wrongly; never with it
// as a host, which is shown.
func misspelt(r *rand.Rand, marker string) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	m := pick(marker, marker, url.PathEscape(marker), url.QueryEscape(marker))
	scheme := pick("redis", "rediss", "redis+sentinel", "redis+cluster", "postgres", "postgresql", "grpc", "grpcs", "dflockd", "REDIS", "redsi", "http", "mysql",
		"jdbc:postgresql", "", "redis:", "redis://u:"+m+"@", "u:"+m)
	between := pick("://", "://", "://", "://", ":/", ":", "//", "/", "", ":full:", ": //", ":///")
	host := pick("127.0.0.1:1", "127.0.0.1", "[::1]:1", "[::1", "127.0.0.1:x", "127.0.0.1:1,127.0.0.1:2", "127.0.0.1:99999", "")
	rest := pick(
		"u:"+m+"@"+host+"/0", m+"@"+host, ":"+m+"@"+host+"/0", "u:"+m+host+"/local?noe=1", "u:"+m+host+"/local", host+"/"+m, host+"/0/"+m, host+"/0?"+m, host+"/0?"+m+"=1",
		host+"/0?password="+m, host+"/0?passwd="+m, host+"/local?access_token="+m, host+"/local?token="+m, host+"/0?sentinel_password="+m, host+"/db?sslmode="+m,
		host+"/db?connect_timeout="+m, host+"/db?sslrootcert="+m, host+"/db?service="+m, host+"/db?target_session_attrs="+m, host+"/db?passfile="+m, host+"/db?options="+m,
		host+"/0?ca="+m, host+"/local?ca="+m+"&cert="+m+"&key="+m, host+"/0?read_timeout="+m, host+"/0?protocol="+m, host+"/0?client_name="+m, host+"/0?db="+m,
		host+"/local?discovery="+m, host+"/local?node="+m+"%zz", host+"/db?locks=1,,"+m, host+"/db?locks="+m+m+"&mutex=1:"+m+"&election=1:2/"+m+"&channels="+m+m+m+m, host+"/db?semaphore="+m, host+"/0#"+m, "u:"+m+"@"+host+"/x y", "u:1?"+m+"@"+host,
		"u:1/"+m+"@"+host, "u:1#"+m+"@"+host, "u:"+m+"%zz@"+host, m+"%@"+host, "u:"+m+"@u:"+m+"@"+host, host+"/db?locks=9223372036854775808&password="+m, m,
		"host=127.0.0.1 port=1 user=u password="+m, "host=127.0.0.1 port=x user="+m, "user="+m+" passwrd="+m, m+" "+m, "u:"+m, "u@127.0.0.1:"+m,
	)
	if strings.TrimRight(rest, m) == "" && strings.Contains(between, "//") || rest == m {
		between = "" // or it would be a host
	}
	return scheme + between + rest
}

// ways are all ways to configure the program, each with a generator of spellings.
func ways() map[string]func(r *rand.Rand, marker string) spelling {
	list := map[string]func(r *rand.Rand, marker string) spelling{}
	for _, command := range []string{
		"get --timeout 20ms", "get --timeout 20ms -o json", "watch", "", "acquire --write --yes", "campaign --write --yes --reason x", "config check", "config", "help", "version", "demo", "completion",
		"completion bash", "man", "__complete get", "__complete", "__completeNoDesc watch", "get --timeout 20ms --config", "config check --config", "acquire",
		"get --timeout", "get -o", "--theme", "acquire --wait", "acquire --permits", "demo --seed", "get --write", "campaign --write --yes --config",
	} {
		list["argument of coordtop "+command] = func(r *rand.Rand, m string) spelling {
			return spelling{args: append(strings.Fields(command), misspelt(r, m))}
		}
		list["bare argument of coordtop "+command] = func(r *rand.Rand, m string) spelling {
			bare := []string{"--" + m, "-" + m, "-p" + m, "-a" + m, "--password=" + m, "--" + m + "=1", "-o" + m, "-o=" + m, "--timeout=" + m, "--config=" + m, "--=" + m, "---" + m,
				"./" + m, "/" + m, "h/" + m, m + "/h", "source/" + m, "@" + m, "PASSWORD=" + m}
			return spelling{args: append(strings.Fields(command), bare[r.IntN(len(bare))])}
		}
	}
	for _, name := range []string{"REDIS_URL", "REDIS_HOST", "MUTEX_REDIS_SENTINEL_HOST", "DATABASE_URL", "YDB_CONNECTION_STRING", "COORDTOP_CONFIG", "PGSERVICE", "PGPORT"} {
		list["$"+name] = func(r *rand.Rand, m string) spelling {
			vars := map[string]string{name: misspelt(r, m)}
			if name == "PGPORT" {
				vars["PGHOST"] = "127.0.0.1"
			}
			return spelling{args: strings.Fields([]string{"get --timeout 20ms", "config check"}[r.IntN(2)]), vars: vars}
		}
	}
	for _, name := range []string{"PGUSER", "PGDATABASE", "PGPASSWORD", "PGSERVICE", "PGSERVICEFILE", "PGPASSFILE", "PGSSLROOTCERT", "PGSSLMODE"} {
		list["$"+name+" beside a host"] = func(r *rand.Rand, m string) spelling {
			return spelling{args: []string{"get", "--timeout", "20ms"}, vars: map[string]string{"PGHOST": "127.0.0.1", "PGPORT": "1", name: misspelt(r, m)}}
		}
	}
	for _, name := range []string{"YDB_ACCESS_TOKEN_CREDENTIALS", "YDB_STATIC_CREDENTIALS_USER", "YDB_STATIC_CREDENTIALS_PASSWORD", "YDB_SSL_ROOT_CERTIFICATES_FILE"} {
		list["$"+name] = func(_ *rand.Rand, m string) spelling {
			return spelling{args: []string{"get", "--timeout", "20ms"}, vars: map[string]string{"YDB_CONNECTION_STRING": "grpcs://127.0.0.1:1/local", name: m}}
		}
	}
	for _, line := range configLines() {
		list["config: "+line] = func(r *rand.Rand, m string) spelling {
			return spelling{args: strings.Fields([]string{"get --timeout 20ms", "config check", "__complete get", "acquire --write --yes s/x"}[r.IntN(4)]), config: filled(r, line, m)}
		}
	}
	return list
}

// configLines are configs with M where the marker comes to stand.
func configLines() []string {
	const good = "sources: [{name: s, url: 'redis://127.0.0.1:1/0', "
	list := []string{
		"sources: [{url: M}]", "sources: [{url: 'U'}]", "M", "M: x", "'M'", "sources: M", "sources: [M]", "title: [M]", "color: M", "identity: M", "titel: M", "poll: M", "%YAML M\n---\na: b",
		"%TAG M", "sources: !M [a]", "sources: *M", "a: &M b", "a: |M\n  x", "a: >M\n  x", "sources: \"M", "sources: [\"M", "sources: 'M", "\tM: x", "a: b: M", "? M", "- M\na: b", "{M", "[M", "@M", "`M", "\"\\M\"",
		"names: {M: {'1': x}}", "names: {s: {M: x}}", "owners: [{match: '(M', label: x}]", "owners: [{match: 'M[', label: x}]", "owners: [{M: x}]", "keys: {M: [x]}", "keys: {pause: [M]}",
		"keys: {pause: [M, M], up: [M]}", "labels: M", "sources: [{name: s, url: 'postgres://127.0.0.1:1/db', key_scheme: M}]", "sources: [{name: s, url: 'postgres://127.0.0.1:1/db', channels: [M, '']}]",
		"sources: [{name: s, url: 'grpc://127.0.0.1:1/db', token_env: M}]", "sources: [{name: s, url: 'grpc://127.0.0.1:1/db', token_file: M}]", "sources: [{name: s, url: 'grpc://127.0.0.1:1/db', user: M, token_env: M}]",
		"sources: [{name: s, url: 'grpcs://127.0.0.1:1/db', tls: {ca: M}}]", "sources: [{name: s, url: 'grpc://127.0.0.1:1/M'}]", "sources: [{name: s, url: 'postgres://127.0.0.1:1/M', user: M}]",
		"sources: [{name: 'redis://u:M@h', url: 'redis://127.0.0.1:1'}]", "sources: [{name: s, url: 'redis://M@127.0.0.1:1'}]", "M\nM\nM", good + "M}]", good + "M: x}]",
		"names: {s: {M: x}}\nsources: [{name: s, url: 'postgres://127.0.0.1:1/db'}]", "names: {s: {'1': M, M: M}}\nsources: [{name: s, url: 'postgres://127.0.0.1:1/db'}]",
	}
	for _, key := range []string{
		"user", "password_env", "password_file", "password_command", "password", "token_env", "tls", "poll", "forget", "read_only", "labels", "watch", "url", "key_scheme", "channels",
	} {
		list = append(list, good+key+": M}]", good+key+": [M]}]", good+key+": {M: M}}]", good+key+": [[M, M]]}]", good+key+": ['sh', '-c', 'exit 3 # M']}]")
	}
	for _, key := range []string{"ca", "cert", "key", "server_name", "M"} {
		list = append(list, "sources: [{name: s, url: 'rediss://127.0.0.1:1/0', tls: {"+key+": M}}]", "sources: [{name: s, url: 'postgres://127.0.0.1:1/db', tls: {"+key+": M, key: M}}]")
	}
	return list
}

// filled puts the marker into a config, in one of YAML's ways to write it.
func filled(r *rand.Rand, line, marker string) string {
	inside := marker
	switch r.IntN(4) {
	case 0:
		inside = strconv.Quote(marker)
	case 1:
		inside = "'" + strings.ReplaceAll(marker, "'", "''") + "'"
	case 2:
		inside = strconv.QuoteToASCII(misspelt(r, marker))
	}
	line = strings.ReplaceAll(line, "U", strings.ReplaceAll(misspelt(r, marker), "'", "''"))
	return strings.ReplaceAll(line, "M", inside)
}

// TestAPasswordInTheWrongPlaceIsShownNowhere spells every way to configure the program in 100
// ways, and looks for the password in all that it prints and writes.
func TestAPasswordInTheWrongPlaceIsShownNowhere(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it asks each way for its configuration 100 times")
	all, times := ways(), 2*len(markers())
	if testing.Short() {
		times = 1
	}
	names := make(chan string)
	var running sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		running.Go(func() {
			for name := range names {
				r := rand.New(rand.NewPCG(9, uint64(len(name))))
				for i := range times {
					marker := markers()[i%len(markers())]
					if found, s, said := shows(t, all[name](r, marker), marker, 100*time.Millisecond); found != "" {
						t.Errorf("%s: %q is shown for %q:\n%+v\n%s", name, found, marker, s, said)
					}
				}
			}
		})
	}
	for name := range all {
		names <- name
	}
	close(names)
	running.Wait()
}

// shows runs the program and returns the piece of the marker that it has shown.
func shows(t *testing.T, s spelling, marker string, within time.Duration) (found string, _ spelling, said string) {
	w := newWorld(t)
	w.vars, w.tty, w.deaf = s.vars, true, true // a board stops before it draws
	args := s.args
	if s.config != "" {
		path := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(path, []byte(s.config), 0o600); err != nil {
			t.Error(err)
		}
		args = append(slices.Clone(args), "--config", path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	code := w.main(ctx, args...)
	said = fmt.Sprintf("exit code %d\n%s%s", code, w.stdout, w.stderr)
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		said += path + "\n"
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			said += string(text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, needle := range needles(marker) {
		if strings.Contains(said, needle) {
			return needle, s, said
		}
	}
	return "", s, said
}
