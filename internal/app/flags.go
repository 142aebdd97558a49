package app

import (
	"errors"

	"github.com/spf13/cobra"

	"coordtop/internal/headless"
)

// output is the value of -o.
type output struct{ format headless.Format }

func (o *output) String() string {
	if o.format == headless.JSON {
		return "json"
	}
	return "text"
}

func (o *output) Set(s string) error {
	switch s {
	case "text":
		o.format = headless.Text
	case "json":
		o.format = headless.JSON
	default:
		return errors.New("write text or json")
	}
	return nil
}

func (o *output) Type() string { return "text|json" }

// flag adds -o to a command.
func (o *output) flag(cmd *cobra.Command) {
	cmd.Flags().VarP(o, "output", "o", "print text or json")
	completeFlag(cmd, "output", "text", "json")
}

// theme is the value of --theme.
type theme string

func (t *theme) String() string {
	if *t == "" {
		return "auto"
	}
	return string(*t)
}

func (t *theme) Set(s string) error {
	if s != "auto" && s != "dark" && s != "light" {
		return errors.New("write auto, dark or light")
	}
	*t = theme(s)
	return nil
}

func (t *theme) Type() string { return "auto|dark|light" }
