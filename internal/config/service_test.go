package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
)

func TestAServiceOfPostgresIsASource(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const text = "# ours\n[other]\nhost=other\n\n[led ger]\nhost = db1,db2\nport=5433\ndbname=my ledger\nuser=a@b\npassword=p/w\nsslmode=require\nhost=late\n[ledger]\nhost=/run/pg\n[bare]\n[bad]\nhunter2\n"
	if err := os.WriteFile(filepath.Join(home, ".pg_service.conf"), []byte(UTF8Mark+strings.ReplaceAll(text, "\n", "\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		vars      map[string]string
		url, name string
	}{
		{map[string]string{"PGSERVICE": "led ger", "PGHOST": "beside", "PGDATABASE": "beside"}, "postgres://a%40b:p%2Fw@db1:5433,db2:5433/my%20ledger?sslmode=require", "db1,db2"},
		{map[string]string{"PGSERVICE": "ledger", "PGUSER": "me", "PGPASSWORD": "pw"}, "postgres://me:pw@/?host=%2Frun%2Fpg", "postgres"},
		{map[string]string{"PGSERVICE": "bare"}, "postgres:///", "postgres"},
		{map[string]string{"PGSERVICE": "bare", "DATABASE_URL": "postgres://h/db"}, "postgres://h/db", "h"},
	} {
		c.vars["HOME"] = home
		got, err := backends.Config().FromEnv(env(c.vars))
		if err != nil || len(got.Sources) != 1 || got.Sources[0].URL != c.url || got.Sources[0].Name != c.name {
			t.Errorf("%v: got %+v, %v", c.vars, got.Sources, err)
		}
	}
	for _, c := range []struct {
		vars map[string]string
		want string
	}{
		{map[string]string{"PGSERVICE": "hunter2"}, "PGSERVICE: the file of services has no section"},
		{map[string]string{"PGSERVICE": "bad"}, "PGSERVICE: the file of services, line 17: it must be name=value"},
		{map[string]string{"PGSERVICE": "x", "PGSERVICEFILE": home + "/hunter2"}, "there is no such file below " + home + ": make ~/.pg_service.conf"},
		{map[string]string{"PGSERVICE": "x", "PGSERVICEFILE": "/dev/zero"}, "a device"},
	} {
		c.vars["HOME"] = home
		got, err := backends.Config().FromEnv(env(c.vars))
		if err == nil || len(got.Sources) != 0 || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v: got %+v, %v, want %s", c.vars, got.Sources, err, c.want)
		}
	}
}
