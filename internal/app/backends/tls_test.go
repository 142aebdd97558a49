package backends

import (
	"testing"

	"coordtop/coord/certs"
	"coordtop/internal/config"
)

func TestTLSFilesOfTheConfigCompleteThoseOfTheURL(t *testing.T) {
	t.Parallel()
	const parameters = "?cert=/c&key=/k"
	want := certs.Files{CA: "/ca", Cert: "/c", Key: "/k"}
	redis, err := redisClient(config.Source{URL: "rediss://h:1/0" + parameters, TLS: certs.Files{CA: "/ca"}})
	if err != nil || *redis.TLSFiles != want {
		t.Errorf("Redis: %+v, %v", redis.TLSFiles, err)
	}
	ydb, err := ydbClient(config.Source{URL: "grpcs://h/l" + parameters, TLS: certs.Files{CA: "/ca"}}, "", nil)
	if err != nil || *ydb.TLSFiles != want {
		t.Errorf("YDB: %+v, %v", ydb.TLSFiles, err)
	}
}
