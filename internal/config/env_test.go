package config_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"coordtop/coord/certs"
	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
)

func TestVariablesThatNameServersBecomeSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want []Source
	}{
		{nil, nil},
		{map[string]string{"PGPORT": "5433", "PGUSER": "u"}, nil},
		{map[string]string{"DATABASE_URL": "mysql://h/db"}, nil},
		{map[string]string{"DATABASE_URL": "nonsense"}, nil},
		{map[string]string{"REDIS_URL": "redis://h:1/0", "DATABASE_URL": "postgresql://u:p@h:1/db?locks=42", "PGHOST": "other"}, []Source{
			{Name: "redis", Type: "redis", URL: "redis://h:1/0", Address: "redis://h:1/0"},
			{Name: "postgres", Type: "postgres", URL: "postgresql://u:p@h:1/db", Address: "postgresql://h:1/db", Watch: []Watch{{Pattern: "42"}}},
		}},
		{map[string]string{"REDIS_HOST": "h", "MUTEX_REDIS_PORT": "1"}, []Source{{Name: "h", Type: "redis", URL: "redis://h:1/0", Address: "redis://h:1/0"}}},
		{map[string]string{"REDIS_HOST": "h", "REDIS_URL": "redis://u"}, []Source{{Name: "u", Type: "redis", URL: "redis://u", Address: "redis://u"}}},
		{map[string]string{"MUTEX_REDIS_SENTINEL_HOST": "s", "REDIS_SENTINEL_NAME": "main"}, []Source{
			{Name: "main", Type: "redis", URL: "redis+sentinel://s:26379/main/0", Address: "redis+sentinel://s:26379/main/0"},
		}},
		{map[string]string{"PGHOST": "h"}, []Source{{Name: "h", Type: "postgres", URL: "postgres://h/", Address: "postgres://h/"}}},
		{map[string]string{"DATABASE_URL": "mysql://x", "PGHOST": "h,::1", "PGPORT": "5433", "PGUSER": "a@b", "PGDATABASE": "my/db", "PGPASSWORD": "hunter2"}, []Source{
			{Name: "h,[::1]", Type: "postgres", URL: "postgres://a%40b@h:5433,[::1]:5433/my/db", Address: "postgres://h:5433,[::1]:5433/my/db",
				Password: Secret{Env: "PGPASSWORD"}},
		}},
		{map[string]string{"PGHOST": "h,::1", "PGPORT": "1,"}, []Source{
			{Name: "h,[::1]", Type: "postgres", URL: "postgres://h:1,[::1]/", Address: "postgres://h:1,[::1]/"},
		}},
		{map[string]string{"PGHOST": "/run/pg", "PGPORT": "5433", "PGUSER": "u", "PGDATABASE": "db"}, []Source{
			{Name: "postgres", Type: "postgres", URL: "postgres://u@/db?host=%2Frun%2Fpg&port=5433", Address: "postgres:///db"},
		}},
		{map[string]string{"YDB_CONNECTION_STRING": "nonsense", "YDB_ACCESS_TOKEN_CREDENTIALS": "hunter2"}, nil},
		{map[string]string{"YDB_CONNECTION_STRING": "grpc://h:2136/local?node=/local/app", "YDB_SSL_ROOT_CERTIFICATES_FILE": "/ca.pem"}, []Source{
			{Name: "h", Type: "ydb", URL: "grpc://h:2136/local", Address: "grpc://h:2136/local", Nodes: []string{"/local/app"}},
		}},
		{map[string]string{"YDB_CONNECTION_STRING": "grpcs://h/local", "YDB_ACCESS_TOKEN_CREDENTIALS": "hunter2", "YDB_STATIC_CREDENTIALS_USER": "u",
			"YDB_SSL_ROOT_CERTIFICATES_FILE": "/ca.pem"}, []Source{
			{Name: "h", Type: "ydb", URL: "grpcs://h/local", Address: "grpcs://h/local", Token: Secret{Env: "YDB_ACCESS_TOKEN_CREDENTIALS"}, TLS: certs.Files{CA: "/ca.pem"}},
		}},
		{map[string]string{"YDB_CONNECTION_STRING": "grpc://h/local", "YDB_STATIC_CREDENTIALS_USER": "u", "YDB_STATIC_CREDENTIALS_PASSWORD": "hunter2"}, []Source{
			{Name: "h", Type: "ydb", URL: "grpc://h/local", Address: "grpc://h/local", User: "u", Password: Secret{Env: "YDB_STATIC_CREDENTIALS_PASSWORD"}},
		}},
		{map[string]string{"YDB_CONNECTION_STRING": "grpc://me@h/local", "YDB_ACCESS_TOKEN_CREDENTIALS": "hunter2"}, []Source{
			{Name: "h", Type: "ydb", URL: "grpc://me@h/local", Address: "grpc://h/local"},
		}},
		{map[string]string{"YDB_CONNECTION_STRING": "grpc://h/local", "YDB_ACCESS_TOKEN_CREDENTIALS": "hunter2", "YDB_ANONYMOUS_CREDENTIALS": "1"}, []Source{
			{Name: "h", Type: "ydb", URL: "grpc://h/local", Address: "grpc://h/local"},
		}},
	} {
		got, err := backends.Config().FromEnv(env(c.env))
		if err != nil {
			t.Errorf("%v: %v", c.env, err)
		}
		if !reflect.DeepEqual(got.Sources, c.want) {
			t.Errorf("%v:\n got %+v\nwant %+v", c.env, got.Sources, c.want)
		}
	}
}

func TestABadVariableIsNamedAndItsSecretIsNot(t *testing.T) {
	t.Parallel()
	_, err := backends.Config().FromEnv(env(map[string]string{"REDIS_URL": "h:6379", "DATABASE_URL": "postgres://u:hunter2@h/db?semaphore=1"}))
	var p *Problems
	if !errors.As(err, &p) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`REDIS_URL: not a URL`, "DATABASE_URL: postgres://...: ", "Postgres has no semaphores"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("lacks %q: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "6379,") {
		t.Errorf("the password is in the error: %v", err)
	}
}
