package config

// file is the config as it is written. Every key of it is in config.example.yaml; a
// test compares the two.
type file struct {
	Title    string                       `yaml:"title"`
	Color    string                       `yaml:"color"`
	Identity string                       `yaml:"identity"`
	Sources  []fileSource                 `yaml:"sources"`
	Names    map[string]map[string]string `yaml:"names"`
	Owners   []fileOwner                  `yaml:"owners"`
	Keys     map[string][]string          `yaml:"keys"`

	Thresholds fileThresholds `yaml:"thresholds"`
	History    fileHistory    `yaml:"history"`
}

type fileHistory struct {
	Off  bool   `yaml:"off"`
	File string `yaml:"file"`
	Keep limit  `yaml:"keep"`
	Full limit  `yaml:"full"`
	Size size   `yaml:"size"`
}

type fileThresholds struct {
	NoLeader   limit   `yaml:"no_leader"`
	LateLeft   percent `yaml:"late_left"`
	LateMissed count   `yaml:"late_missed"`
	LateWorn   percent `yaml:"late_worn"`
	LateSeen   count   `yaml:"late_seen"`
	LossGap    limit   `yaml:"loss_gap"`
	Gap        limit   `yaml:"gap"`
	GapPart    percent `yaml:"gap_part"`
	FlapLosses count   `yaml:"flap_losses"`
	FlapWithin limit   `yaml:"flap_within"`
	Wait       limit   `yaml:"wait"`
	WaitPerson limit   `yaml:"wait_person"`
	Full       limit   `yaml:"full"`
	Stale      limit   `yaml:"stale"`
}

type fileSource struct {
	Name               string            `yaml:"name"`
	URL                string            `yaml:"url"`
	User               string            `yaml:"user"`
	PasswordEnv        string            `yaml:"password_env"`
	PasswordFile       string            `yaml:"password_file"`
	PasswordCommand    []string          `yaml:"password_command"`
	TokenEnv           string            `yaml:"token_env"`
	TokenFile          string            `yaml:"token_file"`
	TLS                fileTLS           `yaml:"tls"`
	Watch              []fileWatch       `yaml:"watch"`
	Legible            []string          `yaml:"legible"`
	Channels           []string          `yaml:"channels"`
	KeyScheme          string            `yaml:"key_scheme"`
	ReadOnly           bool              `yaml:"read_only"`
	Protect            bool              `yaml:"protect"`
	ClientsUnprotected bool              `yaml:"clients_unprotected"`
	Names              string            `yaml:"names"`
	AllowRecreate      bool              `yaml:"allow_recreate"`
	Labels             map[string]string `yaml:"labels"`
	Poll               filePoll          `yaml:"poll"`
	Forget             duration          `yaml:"forget"`
	UnrecordedData     bool              `yaml:"unrecorded_data"`
}

type fileTLS struct {
	CA         string `yaml:"ca"`
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server_name"`
}

type fileWatch struct {
	Keys           string `yaml:"keys"`
	Election       string `yaml:"election"`
	Mutex          string `yaml:"mutex"`
	Semaphore      string `yaml:"semaphore"`
	SemaphoresFile string `yaml:"semaphores_file"`
	Node           string `yaml:"node"`
	Expected       bool   `yaml:"expected"`
}

type filePoll struct {
	Min duration `yaml:"min"`
	Max duration `yaml:"max"`
}

type fileOwner struct {
	Match string `yaml:"match"`
	Label string `yaml:"label"`
}
