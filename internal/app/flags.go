package app

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/format"
	"coordtop/internal/headless"
)

// length is the value of a flag that takes a length of time.
type length struct{ d *time.Duration }

func (l length) String() string {
	if l.d == nil || *l.d == 0 {
		return ""
	}
	return strings.TrimSuffix(format.Age(*l.d), "00m")
}

func (l length) Set(s string) error {
	d, ok := format.ParseLength(s)
	if !ok {
		return errors.New("write a length of time with its unit, as " + format.LengthForms)
	}
	*l.d = d
	return nil
}

func (l length) Type() string { return "duration" }

// lengthVar adds such a flag to a command.
func lengthVar(cmd *cobra.Command, d *time.Duration, name string, usual time.Duration, usage string) {
	*d = usual
	cmd.Flags().Var(length{d}, name, usage)
}

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
