package mask

import (
	"slices"
	"strings"

	"coordtop/internal/ground/lazy"
)

// Sign stands where a secret was.
const Sign = "***"

// Masked reports whether Text has replaced something in a text. It also returns true for a text that contained Sign
// before.
func Masked(s string) bool { return strings.Contains(s, Sign) }

// Text returns s with Sign in place of the secrets in it.
func Text(s string) string {
	if len(s) < shortest {
		return s
	}
	s = logins(addresses(s))
	if containsAny(s, forming) {
		s = forms().ReplaceAllString(s, Sign)
	}
	return values(s)
}

func containsAny(s string, list []string) bool {
	return slices.ContainsFunc(list, func(part string) bool { return strings.Contains(s, part) })
}

// shortest is the length in bytes of the shortest text with a secret: pw=x.
const shortest = 4

// address matches a URL. A password may have any character except a blank or a double quote.
var address = lazy.Regexp(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"]+`)

func addresses(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	return address().ReplaceAllStringFunc(s, func(url string) string {
		scheme, rest, _ := strings.Cut(url, "://")
		return scheme + "://" + withoutLogin(rest)
	})
}

// withoutLogin masks the password in the part of a URL after the scheme. The login ends at the last @, even if the
// password contains characters that a URL forbids. Without an @, which may have been cut off or forgotten, a port that
// is not a number counts as a password.
func withoutLogin(rest string) string {
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, _, has := strings.Cut(rest[:at], ":")
		if !has {
			return Sign + rest[at:]
		}
		return user + ":" + Sign + rest[at:]
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	from := 0
	for host := range strings.SplitSeq(rest[:end], ",") {
		if !hostPort().MatchString(host) {
			name, _, _ := strings.Cut(host, ":")
			return rest[:from+len(name)] + ":" + Sign
		}
		from += len(host) + 1
	}
	return rest
}

var hostPort = lazy.Regexp(`^(?:\[[^\]]*\]|[^:\[]*)(?::\d*)?$`)

// login matches user:password@host without a scheme.
var login = lazy.Regexp(`[^\s:@/"'=,]+:[^\s@"]+@[^\s@]`)

// pid matches the id of a process or a thread, which may stand before the @ instead of a password.
var pid = lazy.Regexp(`^\d{1,7}$`)

func logins(s string) string {
	if strings.IndexByte(s, '@') < 0 {
		return s
	}
	return login().ReplaceAllStringFunc(s, func(text string) string {
		user, rest, _ := strings.Cut(text, ":")
		password, host, _ := strings.Cut(rest, "@")
		if pid().MatchString(password) || strings.HasPrefix(password, "//") {
			return text
		}
		return user + ":" + Sign + "@" + host
	})
}

// announced matches a key that announces a secret, with or without quotes, and the = : := => or > after it.
var announced = lazy.Regexp(`(?i)(?:[a-z0-9_.-]*(?:passw(?:or[dt]|d)|passphrase|mot_?de_?passe|pwd|secret|token|jwt|hmac|signature|credential|authorization|cookie|(?:api|access|private|account|encryption|signing|master)[_-]?key)[a-z0-9_.-]*` +
	`|[a-z0-9_.-]*(?:pass|auth|pw)|(?:[a-z0-9.-]*[_.-]|\b)(?:bearer|sig|otp|pin))` +
	`(\\*["'])?\s*(?:=>|:=|[=:>])\s*|\b(?:password|passwd|pwd|bearer)["']?\s+(?:is\s+)?`)

// loginScheme matches the scheme of a login in a header, which the secret follows.
var loginScheme = lazy.Regexp(`(?i)^(?:basic|bearer|digest|negotiate|token|apikey)\s+`)

// values masks the value of each key that announces a secret. The value of one key may contain another key.
func values(s string) string {
	if !containsAny(strings.ToLower(s), announcing) {
		return s
	}
	keys := announced().FindAllStringSubmatchIndex(s, -1)
	if keys == nil {
		return s
	}
	var b strings.Builder
	shown := 0 // s is written or masked up to here
	for _, at := range keys {
		from, quotedKey := at[1], at[2] >= 0
		from += len(loginScheme().FindString(s[from:]))
		rest := s[from:]
		if from < shown && strings.IndexAny(rest, `\"'`) != 0 {
			continue // the value that contains it is masked already
		}
		opened, length := value(rest, quotedKey)
		if from+length <= shown || length == opened {
			continue
		}
		if from+opened >= shown {
			b.WriteString(s[shown : from+opened])
			b.WriteString(Sign)
		}
		if shown = from + length; shown == len(s) {
			break
		}
	}
	b.WriteString(s[shown:])
	return b.String()
}

// value returns where the secret at the beginning of s begins, after its quote, and where it ends. A list or an object
// in JSON is hidden with the rest of the text.
func value(s string, quotedKey bool) (opened, end int) {
	slashes := len(s) - len(strings.TrimLeft(s, `\`))
	rest := s[slashes:]
	switch {
	case rest == "":
		return 0, len(s)
	case rest[0] == '"' || rest[0] == '\'':
		opened = slashes + 1
		return opened, opened + quoted(s[opened:], rest[0], slashes)
	case quotedKey && (rest[0] == '{' || rest[0] == '['):
		return 0, len(s)
	}
	if block().MatchString(s) {
		return 0, len(s)
	}
	ends := " \t\r\n\v\f"
	if quotedKey {
		ends += ",}]"
	}
	for ; end < len(s) && strings.IndexByte(ends, s[end]) < 0; end++ {
		if s[end] == '\\' { // a blank after it belongs to the secret, as in a connection string
			end++
		}
	}
	return 0, min(end, len(s))
}

// block matches the beginning of a text of several lines in YAML.
var block = lazy.Regexp(`^[|>][-+0-9]*[ \t]*\r?\n`)

// quoted returns the length of a text up to its closing quote, which has as many backslashes as the opening one. A
// doubled single quote is a part of the text.
func quoted(s string, quote byte, slashes int) int {
	run := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			run++
			continue
		case s[i] == quote && run == slashes:
			if quote == '\'' && i+1 < len(s) && s[i+1] == quote {
				i++
				break
			}
			return i - slashes
		}
		run = 0
	}
	return len(s)
}

// Every match of announced contains a word of announcing, and every match of forms one of forming. Most texts contain
// none of these and need no further search.
var (
	announcing = []string{"pass", "pwd", "pw", "secret", "token", "key", "credential", "auth", "cookie", "bearer", "jwt", "hmac", "sig", "otp", "pin"}
	forming    = []string{"-----", "eyJ", "gh", "glpat", "xox", "sk-", "sk_", "rk_", "AKIA", "ASIA", "AIza", "ya29", "t1."}
)

// forms matches secrets with a known form.
var forms = lazy.Regexp(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|$)` +
	`|\beyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)*` +
	`|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|sk_live_|rk_live_|AKIA|ASIA|AIza|ya29\.|t1\.)[A-Za-z0-9_.-]{8,}`)
