package format_test

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"coordtop/internal/ground/format"
)

// shellTexts are texts that some shell does something with.
var shellTexts = []string{
	"", " ", "a", "-", "--", "-rf", "--write", "~", "~root", "~/x", "a~b", "=ls", "=", "a=b", "a=~", "%self", "%1", "^a", "a^b", "#", "a#b", "!", "!!", "a!b", "!$", "it's!", "!'", "'!'",
	"'", "''", "'''", `\`, `\\`, `\\\`, `\'`, `'\`, `\''`, `'\''`, `\n`, `a\`, `a'`, `'a`, `\a`, `lk\'; touch X #`, `lk'; touch X #`, `$(touch X)`, "`touch X`", "$HOME", "${HOME}", `"$HOME"`, `"`,
	"a;touch X", "a|touch X", "a&touch X", "a>X", "a<X", "*", "?", "[a-z]", "{a,b}", "{1..3}", "(touch X)", "<(touch X)", "=(touch X)", "a b", " a ", "a\tb", "a\nb", "\n", "a\n", "a\r\nb", "'\n'", "\\\n",
	"\x01", "a\x07b", "\x1b[31m", "\x7f", "é", "日本", "\u202e", "\u00a0", "a\u00a0b", "\xff", "a\xffb'", "@", "@team", "a@b:1/c_d.e-f", "+", ",", "a,b", "~+", "a:~", "a:=ls", "日'本\\",
	`redis://ops@leases:6379/0?election=app%3Aleader%3Aa&x=it's`, strings.Repeat(`'\`, 40), strings.Repeat("a ", 300),
}

func TestAWordNamesItsTextByTheRulesOfEachShell(t *testing.T) {
	t.Parallel()
	for _, text := range shellTexts {
		readBack(t, text)
	}
}

func FuzzAWordNamesItsTextByTheRulesOfEachShell(f *testing.F) {
	for _, text := range shellTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { readBack(t, text) })
}

// readBack reads the word of a text by the documented rules.
func readBack(t *testing.T, text string) {
	t.Helper()
	word := format.ShellWord(text)
	for _, s := range []struct {
		shell  string
		quoted string // what a \ quotes within single quotes; any other \ there is itself
		twice  bool   // two single quotes within single quotes are one: RC_QUOTES
	}{
		{shell: "POSIX sh, bash, dash and zsh"}, {shell: "zsh with RC_QUOTES", twice: true}, {shell: "fish", quoted: `'\`},
	} {
		got, err := readWord(word, s.quoted, s.twice)
		if err != nil || got != text {
			t.Errorf("%s: %q is %s, and is read as %q: %v", s.shell, text, word, got, err)
		}
	}
}

// readWord reads one word that has neither double quotes nor expansions. POSIX 2.2.1: outside of
// quotes a \ keeps the next character, other than a newline, as it is; 2.2.2: single quotes keep each
// character as it is. fish, "Quotes": the same, but within them \' and \\ are ' and \.
func readWord(word, quoted string, twice bool) (string, error) {
	var text []byte
	if word == "" {
		return "", errors.New("no word at all")
	}
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c == '\\' && i+1 < len(word) && strings.IndexByte(`'\`, word[i+1]) >= 0:
			i++
			text = append(text, word[i])
		case c == '\'':
			for i++; ; i++ {
				if i >= len(word) {
					return string(text), errors.New("a quote is not closed")
				}
				if word[i] == '\\' && i+1 < len(word) && quoted != "" && strings.IndexByte(quoted, word[i+1]) >= 0 {
					i++
				} else if word[i] == '\'' && twice && i+1 < len(word) && word[i+1] == '\'' {
					i++
				} else if word[i] == '\'' {
					break
				}
				text = append(text, word[i])
			}
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-_./:@", c) >= 0:
			text = append(text, c)
		default:
			return string(text), errors.New("a character outside of quotes that a shell may obey: " + string(c))
		}
	}
	return string(text), nil
}

func TestAWordNamesItsTextInTheShellsThatAreHere(t *testing.T) {
	t.Parallel()
	show, err := exec.LookPath("printf")
	if err != nil {
		t.Skip("no printf that is a program")
	}
	for shell, options := range map[string][]string{
		"sh": {"-c"}, "bash": {"-c"}, "dash": {"-c"}, "zsh": {"-f", "-o", "rcquotes", "-o", "magicequalsubst", "-o", "extendedglob", "-c"}, "fish": {"--no-config", "-c"},
	} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here", shell)
			continue
		}
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			// Many words on a line: what one of them opens would swallow the next.
			line, want := show+` '%s<>'`, ""
			for _, text := range shellTexts {
				line += " " + format.ShellWord(text)
				want += text + "<>"
			}
			cmd := exec.Command(path, append(options, line)...)
			cmd.Dir = t.TempDir()
			cmd.Env = []string{"LC_ALL=C.UTF-8", "HOME=" + cmd.Dir, "XDG_CONFIG_HOME=" + cmd.Dir, "XDG_DATA_HOME=" + cmd.Dir}
			out, err := cmd.CombinedOutput()
			if string(out) != want || err != nil {
				t.Errorf("%v\ngot  %q\nwant %q", err, out, want)
			}
		})
	}
}

func TestNoHistoryIsExpandedInAWord(t *testing.T) {
	t.Parallel()
	for shell, before := range map[string]string{"bash": "set -o history -H\necho some words\n", "zsh": "setopt banghist\necho some words\n"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not here", shell)
			continue
		}
		var line, want strings.Builder
		for _, text := range shellTexts {
			if strings.Contains(text, "!") {
				line.WriteString("printf '%s<>' " + format.ShellWord(text) + " && echo\n")
				want.WriteString(text + "<>\n")
			}
		}
		args := []string{"--norc", "--noprofile"}
		if shell == "zsh" {
			args = []string{"-f"}
		}
		cmd := exec.Command(path, append(args, "-s")...)
		cmd.Dir, cmd.Env = t.TempDir(), []string{"HISTFILE=/dev/null"}
		cmd.Stdin = strings.NewReader(before + line.String())
		out, err := cmd.CombinedOutput()
		if string(out) != "some words\n"+want.String() || err != nil {
			t.Errorf("%s: %v\ngot  %q\nwant %q", shell, err, out, want.String())
		}
	}
}
