package config_test

import (
	"slices"
	"strings"
	"testing"

	. "coordtop/internal/config"
)

func TestNamesInFilesAndRememberedNamesAreOfYDB(t *testing.T) {
	t.Parallel()
	c, err := parse(t, []byte(`sources:
  - {url: "grpc://f/local", names: off, watch: [{semaphores_file: n.txt, node: /local/app, expected: true}]}
`), "/etc/c.yaml", noEnv)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Sources[0]; !s.ForgetNames || !slices.Equal(s.NameFiles, []NameFile{{"/etc/n.txt", "/local/app", true}}) {
		t.Errorf("%+v", s)
	}
	_, err = parse(t, []byte(`sources:
  - {url: "grpc://f/local", names: on, watch: [{semaphores_file: f, node: "/"}, {semaphores_file: f, mutex: x}]}
  - {url: "redis://f", watch: [{semaphores_file: f}, {node: "/"}]}
  - {url: "grpc://g/local", watch: [{semaphore: "job-*"}]}
`), "/etc/c.yaml", noEnv)
	for _, want := range []string{
		"sources[0].names: only off is taken here",
		"sources[0].watch[0].node: is empty: write the path of a coordination node",
		"sources[0].watch[1]: must have one of election, mutex, semaphore, keys",
		"sources[1].watch[0].semaphores_file: only for YDB",
		"sources[1].watch[1].node: only for YDB",
		"no name is found by a *",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
