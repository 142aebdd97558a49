package app

import (
	"net/url"
	"strconv"
	"strings"
	"testing"

	"coordtop/internal/localserver"
)

// TestAPasswordInTheWrongPlaceIsNotRepeatedByAServer lets servers say what they say of an
// unknown user, database or parameter.
func TestAPasswordInTheWrongPlaceIsNotRepeatedByAServer(t *testing.T) {
	t.Parallel()
	open := localserver.PostgresForTest(t, localserver.PostgresOptions{}).Addr()
	locked := localserver.PostgresForTest(t, localserver.PostgresOptions{Password: "right"}).Addr()
	free := localserver.RedisForTest(t, localserver.RedisOptions{}).Addr()
	shut := localserver.RedisForTest(t, localserver.RedisOptions{Password: "right"}).Addr()
	for i, marker := range markers()[:8] {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			m := url.QueryEscape(marker)
			for _, address := range []string{
				"postgres://" + m + "@" + open + "/postgres", "postgres://postgres@" + open + "/" + m, "postgres://postgres@" + open + "/postgres?" + m + "=1",
				"postgres://postgres@" + open + "/postgres?search_path=" + m, "postgres://postgres@" + open + "/postgres?work_mem=" + m, "postgres://postgres@" + open + "/postgres?options=-c%20" + m,
				"postgres://" + m + ":" + m + "@" + locked + "/postgres", "postgres://postgres:" + m + "@" + locked + "/postgres", "postgres://" + m + "@" + locked + "/" + m,
				"redis://" + m + "@" + free, "redis://" + m + "@" + shut, "redis://" + m + ":" + m + "@" + shut, "redis://" + m + ":" + m + "@" + free,
				"redis+sentinel://" + free + "/" + m, "redis+sentinel://" + shut + "/" + m + "?sentinel_user=" + m + "&sentinel_password=" + m, "redis://" + free + "/0?client_name=" + m,
				"grpc://" + m + ":" + m + "@" + free + "/" + m, "grpc://" + free + "/local?access_token=" + m,
			} {
				if found, _, said := shows(t, spelling{args: []string{"get", "--timeout", "1s", "-o", "json", address}}, marker, longEnough); found != "" {
					t.Errorf("%s: %q is shown:\n%s", strings.ReplaceAll(address, m, "M"), found, said)
				}
			}
		})
	}
}
