package sources

import (
	"slices"
	"testing"
)

func TestOneRuleSaysWhichRowsANameMeans(t *testing.T) {
	t.Parallel()
	row := func(source, space, name, alias string, how Known) *Row {
		return &Row{Primitive: &Primitive{Ref: Ref{source, space, name}, Alias: alias, AliasHow: how}}
	}
	rows := []*Row{nil, row("pg", "db", "17:4", "compactor", Told), row("pg", "db", "18:4", "twin", Told), row("pg", "other", "19:4", "twin", Told),
		row("pg", "db", "20:4", "Prisma", Inferred), row("pg", "db", "21:4", "x", Told), row("pg", "db", "x", "", Unknown), row("ydb", "/local/app", "x", "", Unknown), row("ydb", "", "", "", Unknown)}
	for name, want := range map[string]struct{ qualified, alone []string }{
		"pg/17:4":           {[]string{"17:4"}, []string{"17:4"}},
		"pg/db/17:4":        {[]string{"17:4"}, []string{"17:4"}},
		"pg/compactor":      {[]string{"17:4"}, []string{"17:4"}},
		"pg/db/compactor":   {[]string{"17:4"}, []string{"17:4"}},
		"compactor":         {nil, []string{"17:4"}},
		"17:4":              {nil, []string{"17:4"}},
		"pg/twin":           {[]string{"18:4", "19:4"}, []string{"18:4", "19:4"}},
		"pg/other/twin":     {[]string{"19:4"}, []string{"19:4"}},
		"pg/Prisma":         {nil, nil}, // a guess is shown and names nothing
		"Prisma":            {nil, nil},
		"pg/x":              {[]string{"x"}, []string{"x"}}, // a name goes before an alias
		"x":                 {nil, []string{"x", "x"}},
		"ydb/local/app/x":   {[]string{"x"}, []string{"x"}},
		"ydb//local/app/x":  {[]string{"x"}, []string{"x"}},
		"pg/db":             {nil, nil},
		"pg/":               {nil, nil},
		"pg":                {nil, nil},
		"":                  {nil, nil},
		"other/pg/17:4":     {nil, nil},
		"PG/17:4":           {nil, nil},
		"pg/compactor/17:4": {nil, nil},
	} {
		for alone, want := range map[bool][]string{false: want.qualified, true: want.alone} {
			var got []string
			for _, r := range NamedRows(rows, name, alone) {
				got = append(got, r.Name)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, alone %v: %q, want %q", name, alone, got, want)
			}
		}
	}
}
