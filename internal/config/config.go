package config

import (
	"regexp"
	"time"

	"coordtop/coord/certs"
	"coordtop/internal/diagnose"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// Config is a config that passed every check. The zero Config has no sources.
type Config struct {
	Path     string // path of its file; "": it came from arguments or the environment
	Title    string // name of the environment; "": none
	Color    string // colour of the title, one of Colors; "": the program's choice
	Identity string // template of our label as an owner; "": the program's choice
	Start    string // first screen, one of Starts; "": the program's choice
	Team     string // recorder whose view is shown, as --from; "": the servers are asked
	Sources  []Source
	Names    map[string]map[string]string // by source, if its backend has Names, and by lock number: the name to show
	Owners   sources.OwnerRules
	Keys     map[string][]string // keys of the board, by action; the board checks whether the actions exist

	Runbooks   map[diagnose.Pattern]string // URLs, http or https
	Objectives []objective.Objective       // by pattern
	Alert      string                      // how the terminal calls for a person, one of Alerts; "": off
	Notify     []Notify                    // whom to tell what is found
	Thresholds sources.Thresholds          // above these something counts as late, lost or a problem
	History    History
	Metrics    Metrics

	places *places // positions in the file at Path
}

// Problem returns a Problem about the value at a path of the file, such as "sources[1].url", with its position.
func (c *Config) Problem(path, text string) Problem { return c.places.problem(path, text) }

// Source is one server to watch.
type Source struct {
	Name     string // unique in a Config
	Type     string // of a Backend
	URL      string // for the backend's parser, without our parameters; may have a password if it was an argument
	Address  string // scheme, hosts and path, without user, password and parameters; for people, see AddressWithoutLogin
	User     string // overrides the URL's; "": the URL's
	Password Secret
	Token    Secret // only if the backend has Tokens; then User and Password are empty
	TLS      certs.Files
	Watch    []Watch
	Legible  []*regexp.Regexp // only if the backend has Legible: parts of values that are shown even if they are not names
	Nodes    []string         // only if the backend has Nodes: paths of coordination nodes, from the root or from the database
	Channels []string         // only if the backend has Channels
	Scheme   string           // only if the backend has KeyScheme: the mapping of names to numbers; "": the source's own
	ReadOnly bool
	Protect  bool
	// Only if the backend has Nodes: the ways to end the ownership of others, see ydbcoord.Options.
	ClientsUnprotected, AllowRecreate bool
	NameFiles                         []NameFile
	ForgetNames                       bool // the names of primitives are not remembered
	UnrecordedData                    bool // the data of owners and waiters is not recorded

	Labels  []sources.Attr // for filters; sorted by key
	PollMin time.Duration
	PollMax time.Duration // 0, like a PollMin of 0: the source's own choice
	Forget  time.Duration // 0: the source's own choice
	Agree   int           // if not 0, its names are the same locks as in the other sources with this number
}

// History configures the recording. The zero History records everything, at the usual place.
type History struct {
	Off  bool          `yaml:"off"`
	File string        `yaml:"file"` // "": in the state folder
	Keep time.Duration `yaml:"keep"` // 0: the program's choice
	Full time.Duration `yaml:"full"` // for what the store of a team replays; 0: the program's choice
	Size int64         `yaml:"size"` // most bytes; 0: the program's choice

	GroupReads bool `yaml:"group_reads"` // members of the file's group may read it

	// The store of a team. URL "": the recording is a file.
	URL             string   `yaml:"url"`
	Direct          string   `yaml:"direct"` // not through a pooler; "": as URL
	Group           string   `yaml:"group"`  // of recorders that see the same servers; "": the usual one
	PasswordEnv     string   `yaml:"password_env"`
	PasswordFile    string   `yaml:"password_file"`
	PasswordCommand []string `yaml:"password_command"`
}

// Password returns the place of the password of the store.
func (h History) Password() Secret {
	return Secret{Env: h.PasswordEnv, File: h.PasswordFile, Command: h.PasswordCommand}
}

// Metrics configures what `--listen` serves.
type Metrics struct {
	Names  string `yaml:"names"`  // filter of the rows whose names are shown, in the language of the board, which checks it; "": none
	Series int    `yaml:"series"` // most series with names; 0: the program's choice
}

// Secret returns the secret for the source: the password, or the access token.
func (s Source) Secret() Secret {
	if !s.Token.IsZero() {
		return s.Token
	}
	return s.Password
}

// Watch selects primitives of a source. Its Node is only for a backend that has Nodes; "" stands for each of
// Source.Nodes.
type Watch = sources.Selection

// NameFile is a file of names to watch.
type NameFile struct {
	Path     string
	Node     string // as in Watch
	Expected bool
}

// Starts returns what `start` takes.
func Starts() []string { return []string{"auto", "pulse", "locks"} }

// Colors returns the names that `color` takes. They are those of the terminal's palette, whose theme decides how they
// look.
func Colors() []string {
	return []string{"red", "green", "yellow", "blue", "magenta", "cyan", "black"}
}
