package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/app/backends"
	"coordtop/internal/help"
)

func TestHelpShowsTopicsAndCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want []string
		not  string
	}{
		{"", []string{"campaign", "Lead an election", "exit-codes", "what each means", "`coordtop help -k WORD`"}, "demo-candidate"},
		{"problems", []string{"# Problems: ", "| `late` |"}, "USAGE"},
		{"json", []string{"`last_seen`", "## Every field", "    owners_known"}, ""},
		{"get", []string{"--fail-on", "## coordtop get\n", "help json` has more"}, "coordtop wait leases"},
		{"record", []string{"--export", "## coordtop record\n", "--mask"}, "## Times"},
		{"campaign", []string{"--data", "## coordtop acquire, coordtop campaign\n"}, "## Audit"},
		{"config check", []string{"coordtop config check [FILE]"}, "##"},
		{"metrics", []string{"# metrics: ", "`coordtop help metrics --rules`"}, "alert: Coordtop"},
		{"metrics --rules", []string{"groups:\n", "alert: CoordtopNoLeader"}, "# metrics"},
		{"metrics --dashboard", []string{`"title": "coordtop"`}, "# metrics"},
		{"-k Redisson", []string{"coordtop help libraries: which locks are found in a Redis\n", "Not recognised\n", "ShedLock, BullMQ"}, "pg_monitor"},
		{"-k fail-on", []string{"coordtop get --help\n", "`--fail-on` end with"}, ""},
		{"-k identity label", []string{"coordtop config example\n"}, ""},
		{"-k last_seen", []string{"coordtop help json: Every field", "coordtop help json: An example"}, ""},
	} {
		w := newWorld(t)
		w.example = "# Our own label, the identity.\n"
		if code := w.main(t.Context(), append([]string{"help"}, strings.Fields(c.args)...)...); code != exitOK || w.stderr.String() != "" {
			t.Errorf("help %s: exit code %d: %s", c.args, code, w.stderr)
		}
		out := w.stdout.String()
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("help %s: lacks %q:\n%.900s", c.args, want, out)
			}
		}
		if c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("help %s: has %q", c.args, c.not)
		}
	}
}

func TestHelpThatThereIsNotIsSaidInASentence(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]struct {
		code int
		text string
	}{
		"problem":      {exitUsage, "there is no such command or topic (did you mean problems?): coordtop help lists them"},
		"exit":         {exitUsage, "(did you mean exit-codes?)"},
		"wacth":        {exitUsage, "(did you mean watch?)"},
		"hunter2":      {exitUsage, "there is no such command or topic: coordtop help lists them"},
		"urls rights":  {exitUsage, "there is no such command"},
		"get --rules":  {exitUsage, "--rules and --dashboard print files: coordtop help metrics --rules"},
		"-k zzz redis": {exitError, "nothing in the help has all these words: try fewer"},
		"-k":           {exitUsage, "-k takes words"},
	} {
		w := newWorld(t)
		code := w.main(t.Context(), append([]string{"help"}, strings.Fields(args)...)...)
		if text := w.stderr.String(); code != want.code || !strings.Contains(text, want.text) || strings.Contains(text, "hunter2") || w.stdout.String() != "" {
			t.Errorf("help %s: exit code %d: %s%s", args, code, text, w.stdout)
		}
	}
}

func TestHelpGoesThroughThePagerOnATerminal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pager, term string
		want, not   string
	}{
		"a pager":             {pager: "tr A-Z a-z; echo by $LESS", want: "by FRX", not: "Exit"},
		"one that quits":      {pager: "head -1", want: "\x1b[1mExit", not: "128"},
		"one that is missing": {pager: "no-such-pager -x", want: "128 + n"},
		"none":                {pager: "", want: "128 + n"},
		"cat":                 {pager: "cat", want: "\x1b[1mmeans"},
		"a dumb terminal":     {pager: "tr A-Z a-z", term: "dumb", want: "  128 + n", not: "\x1b"},
	} {
		w := newWorld(t)
		w.tty = true
		w.vars = map[string]string{"PAGER": c.pager, "TERM": c.term}
		code := w.main(t.Context(), "help", "exit-codes")
		if out := w.stdout.String(); code != exitOK || !strings.Contains(out, c.want) || c.not != "" && strings.Contains(out, c.not) {
			t.Errorf("%s: exit code %d: %s%.600s", name, code, w.stderr, out)
		}
	}
}

func TestTopicsAreCompleted(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{"re": "record recording release replay report", "ex": "exit-codes"} {
		w := newWorld(t)
		w.main(t.Context(), "__complete", "help", args)
		var words []string
		for line := range strings.Lines(w.stdout.String()) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(word, ":") && !strings.HasPrefix(word, "Completion ended") {
				words = append(words, word)
			}
		}
		slices.Sort(words)
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q is completed with %q", args, got)
		}
	}
}

// topic is the text of one.
func topic(t *testing.T, name string) help.Topic {
	t.Helper()
	found, ok := help.Find(name)
	if !ok {
		t.Fatalf("there is no topic %s", name)
	}
	return found
}

func TestTheTopicHasTheTableOfExitCodes(t *testing.T) {
	t.Parallel()
	code := 0
	for _, b := range topic(t, "exit-codes").Blocks() {
		if b.Kind != help.Row {
			continue
		}
		if code < len(exitMeanings()) && (b.Cells[0] != fmt.Sprint(code) || b.Cells[1] != exitMeanings()[code]) {
			t.Errorf("code %d: %q, want %q", code, b.Cells[:2], exitMeanings()[code])
		}
		code++
	}
	if want := len(exitMeanings()) + 1; code != want { // and those of signals
		t.Errorf("%d codes, want %d", code, want)
	}
}

func TestTheTopicHasAllParametersOfURLs(t *testing.T) {
	t.Parallel()
	parameters := map[string][]string{} // by backend
	var all []string
	for _, b := range topic(t, "urls").Blocks() {
		if b.Under == "All parameters" && b.Kind == help.Row {
			for _, word := range strings.Fields(b.Cells[1] + " " + b.Cells[2]) {
				if strings.HasPrefix(word, "`") {
					parameters[b.Cells[0]] = append(parameters[b.Cells[0]], strings.Trim(word, "`;"))
				}
			}
		}
	}
	for _, list := range parameters {
		all = append(all, list...)
	}
	for _, b := range backends.All() {
		for _, key := range all {
			value := map[string]string{"discovery": "off", "protocol": "3", "db": "1", "sslmode": "disable", "lease": "30s", "locks": "1"}[key]
			if value == "" {
				value = "10s"
			}
			scheme := b.Schemes[len(b.Schemes)-1].Name // with TLS
			if b.Type == "postgres" || b.Type == "redis" {
				scheme = b.Schemes[0].Name
			}
			_, err := backends.Config().ParseURL(scheme + "://host/?" + key + "=" + value)
			if slices.Contains(parameters[b.Title], key) {
				if err != nil && strings.Contains(err.Error(), "unknown parameter") {
					t.Errorf("%s= of %s: %v", key, b.Title, err)
				}
			} else if err == nil && b.Type != "postgres" { // the server knows its settings
				t.Errorf("%s= of %s is not in the topic", key, b.Title)
			}
		}
	}
}

func TestTopicsNameWhatTheProgramTakes(t *testing.T) {
	t.Parallel()
	has := func(name string, words ...string) {
		t.Helper()
		for _, word := range words {
			if !strings.Contains(topic(t, name).Text, word) {
				t.Errorf("the topic %s does not name %s", name, word)
			}
		}
	}
	for _, b := range backends.All() {
		has("backends", b.Title)
		has("rights", "## "+b.Title+"\n")
		for _, v := range b.Variables {
			has("environment", "`"+v.Name+"`")
			for word := range strings.FieldsSeq(strings.TrimPrefix(v.With, "also ")) {
				if word = strings.Trim(word, ","); strings.ToUpper(word) == word {
					has("environment", "`"+word+"`")
				}
			}
		}
		for _, s := range b.Schemes {
			if s.Shown != "" {
				has("urls", "`"+s.Name+"://")
			}
		}
	}
	has("environment", auditName, "COORDTOP_CONFIG", "NO_COLOR")
	root := newProgram(Environment{}).root()
	for _, c := range root.Commands() {
		if flag := c.Flags().Lookup("output"); flag != nil {
			has("json", "`"+c.Name()+"`")
			for word := range strings.SplitSeq(flag.Value.Type(), "|") {
				has("json", "`-o "+word+"`")
			}
		}
	}
}

func TestEveryURLOfTheTopicsIsUnderstood(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "internal", "help", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(files, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \n'`|()", r) }) {
			if scheme, rest, ok := strings.Cut(word, "://"); !ok || rest == "" || strings.HasPrefix(rest, "...") || scheme == "https" || strings.HasSuffix(rest, "/metrics") {
				continue
			}
			seen++
			if _, err := backends.Config().ParseURL(word); err != nil {
				t.Errorf("%s: %s: %v", file, word, err)
			}
		}
	}
	if seen < 12 {
		t.Errorf("only %d URLs were seen", seen)
	}
}
