package ydbsource

import (
	"cmp"
	"context"
	"fmt"

	"coordtop/coord/certs"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/format"
	"coordtop/sources/kit"
)

// Endpoints implements kit.Examiner. It returns the address of the URL, not the nodes of the cluster.
func (s *Source) Endpoints() ([]kit.Endpoint, error) {
	config, err := certs.Config(s.o.Client.TLS, s.o.Client.TLSFiles)
	if config != nil {
		config = config.Clone()
		config.NextProtos = []string{"h2"}
	}
	return kit.Endpoints(config, s.o.Client.Address), err
}

// Examine implements kit.Examiner.
func (s *Source) Examine(ctx context.Context) (list []kit.Check, err error) {
	o := s.o.Client
	client, err := ydbcoord.NewClient(o)
	if err != nil {
		return nil, err
	}
	defer closeClient(client)
	if err := client.Ping(ctx); err != nil {
		return nil, Explain(err, o, true)
	}
	user := "anonymous"
	if o.AccessToken != "" {
		user = "with our access token"
	}
	list = append(list, kit.Check{Name: "login", Text: cmp.Or(o.User, user) + ", database " + format.Clean(o.Database, 200)})
	may := func(call, path string, err error) {
		c := kit.Check{Name: "right", Text: call + " " + format.Clean(path, 200)}
		if err = Explain(err, o, false); err != nil {
			c.Grade, c.Text, c.Lost = kit.GradeOf(err), c.Text+": "+err.Error(), "what is in "+format.Clean(path, 200)
			c.Fix = fmt.Sprintf("GRANT 'ydb.granular.describe_schema', 'ydb.granular.select_row' ON `%s` TO `%s`", format.Clean(path, 200), cmp.Or(o.User, "USER"))
		}
		list = append(list, c)
	}
	for _, path := range s.plan.nodes {
		_, err := client.Nodes().Describe(ctx, path)
		may("describe", path, err)
	}
	if s.plan.walk {
		before := len(list)
		for path, err := range client.Nodes().List(ctx, "") {
			if err != nil {
				may("list", path, err)
			}
		}
		if len(list) == before {
			may("list", o.Database, nil)
		}
	}
	return list, nil
}
