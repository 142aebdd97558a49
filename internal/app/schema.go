package app

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"coordtop/internal/headless"
)

// schemaFlag adds --schema to a command: it then prints what its JSON is like, and does nothing else.
func (p *program) schemaFlag(cmd *cobra.Command, part headless.Part) {
	only, act := false, cmd.RunE
	cmd.Flags().BoolVar(&only, "schema", false, "print the JSON Schema of -o json, and read nothing")
	schema := p.run(func(cmd *cobra.Command, _ []string) error {
		return writeSchema(cmd.OutOrStdout(), headless.Schema(part))
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if only {
			return schema(cmd, args)
		}
		return act(cmd, args)
	}
}

func writeSchema(out io.Writer, schema headless.Object) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(schema)
}
