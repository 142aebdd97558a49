package app

import (
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// watchBoth runs watch with its data as text and as JSON, until the end of the test.
func watchBoth(t *testing.T, url string) (text, json *watching) {
	t.Helper()
	text, json = watch(t, newWorld(t), url, "--data"), watch(t, newWorld(t), url, "-o", "json")
	t.Cleanup(func() {
		text.end()
		json.end()
		<-text.done
		<-json.done
	})
	return text, json
}

// shows waits until watch has printed a line with all of the words.
func (w *watching) shows(t *testing.T, words ...string) {
	t.Helper()
	w.stdout.await(t, func(text string) bool {
		for line := range strings.Lines(text) {
			all := strings.HasSuffix(line, "\n")
			for _, word := range words {
				all = all && strings.Contains(line, word)
			}
			if all {
				return true
			}
		}
		return false
	})
}

func TestWatchShowsWhatALeaderProclaims(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]func(t *testing.T) (url string, d coord.Driver, err error){
		"ydb": func(t *testing.T) (string, coord.Driver, error) {
			s := ydbForTest(t, ydbtest.Options{})
			d, err := ydbcoord.New(s.URL(0)+"?node="+ydbNode, ydbcoord.Options{CreateElections: true})
			return s.URL(0) + "?node=" + ydbNode + "&election=4242", d, err
		},
		"redis": func(t *testing.T) (string, coord.Driver, error) {
			url := localserver.RedisForTest(t, localserver.RedisOptions{}).URL()
			o, err := rediscoord.ParseURL(url)
			if err != nil {
				return "", nil, err
			}
			d, err := rediscoord.New(o, rediscoord.Options{})
			return url + "?election=4242", d, err
		},
		"postgres": func(t *testing.T) (string, coord.Driver, error) {
			url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
			d, err := pgcoord.New(url, pgcoord.Options{})
			return url + "&election=4242", d, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, d, err := at(t)
			if err != nil {
				t.Fatal(err)
			}
			s, err := coord.Open(t.Context(), d, coord.SessionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _, _ = s.Close(t.Context()), d.Close(t.Context()) }() // the server ends with the test
			text, json := watchBoth(t, url)
			text.shows(t, "synced")
			json.shows(t, `"event":"synced"`)
			term, err := s.Election("4242", coord.ElectionOptions{}).Campaign(t.Context(), []byte("host-1 port 80"))
			if err != nil {
				t.Fatal(err)
			}
			text.shows(t, "acquired", "host-1 port 80")
			json.shows(t, `"event":"acquired"`, `host-1 port 80`, `"len":`)
			if err := term.Proclaim(t.Context(), []byte("host-1 port 81")); err != nil {
				t.Fatal(err)
			}
			text.shows(t, "proclaimed", "owner's data", `host-1 port 81"`)
			json.shows(t, `"event":"proclaimed"`, `host-1 port 81"`, `"cut":false`)
		})
	}
}

func TestWatchShowsAChangeOfSharedConfiguration(t *testing.T) {
	t.Parallel()
	s := ydbForTest(t, ydbtest.Options{})
	url := s.URL(0) + "?node=" + ydbNode + "&semaphore=quota"
	text, json := watchBoth(t, url)
	text.shows(t, "present", ` data "data of quota"`)
	json.shows(t, `"event":"present"`, `"owner":null,"data":{"text":"data of quota","len":13,"cut":false}`)
	if err := s.UpdateSemaphore(ydbNode, "quota", []byte("limit: 5\n\x1b[2J\u202e"+strings.Repeat("x", 5000))); err != nil {
		t.Fatal(err)
	}
	text.shows(t, "proclaimed", `data "limit: 5\n\x1b[2J\u202exxx`, `xxx"... (5,016 bytes)`)
	json.shows(t, `"event":"proclaimed"`, `"data":{"text":"limit: 5\n\u001b[2J\u202exxx`, `"len":5016,"cut":true`)
	if strings.Contains(text.stdout.String()+json.stdout.String(), "\x1b") {
		t.Error("an escape sequence came through")
	}
	if err := s.DeleteSemaphore(ydbNode, "quota"); err != nil {
		t.Fatal(err)
	}
	json.shows(t, `"event":"deleted"`, `"data":null`)
	text.shows(t, "deleted")
	if err := s.CreateSemaphore(ydbNode, "quota", 1, []byte("password=hunter2")); err != nil {
		t.Fatal(err)
	}
	text.shows(t, "created", "data ", "***")
	if strings.Contains(text.stdout.String()+json.stdout.String(), "hunter2") {
		t.Error("a password came through")
	}
}
