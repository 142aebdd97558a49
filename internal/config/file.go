package config

import (
	_ "embed"

	"coordtop/coord/certs"
	"coordtop/sources"
)

// file is the config as people write it. config.example.yaml has all its keys; a test compares the two.
type file struct {
	Title    string                       `yaml:"title"`
	Color    string                       `yaml:"color"`
	Identity string                       `yaml:"identity"`
	Start    string                       `yaml:"start"`
	Team     string                       `yaml:"team"`
	Sources  []fileSource                 `yaml:"sources"`
	Names    map[string]map[string]string `yaml:"names"`
	Owners   []fileOwner                  `yaml:"owners"`
	Agree    [][]string                   `yaml:"agree"`
	Keys     map[string][]string          `yaml:"keys"`
	Runbooks map[string]string            `yaml:"runbooks"`

	Objectives map[string]string `yaml:"objectives"`
	Alert      string            `yaml:"alert"`
	Notify     []fileNotify      `yaml:"notify"`

	Thresholds sources.Thresholds `yaml:"thresholds"`
	History    History            `yaml:"history"`
	Metrics    Metrics            `yaml:"metrics"`
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
	TLS                certs.Files       `yaml:"tls"`
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
	Match   string `yaml:"match"`
	Label   string `yaml:"label"`
	Host    string `yaml:"host"`
	Program string `yaml:"program"`
}

type fileNotify struct {
	Severity   string   `yaml:"severity"`
	Filter     string   `yaml:"filter"`
	Command    []string `yaml:"command"`
	URL        string   `yaml:"url"`
	URLEnv     string   `yaml:"url_env"`
	URLFile    string   `yaml:"url_file"`
	URLCommand []string `yaml:"url_command"`
}

//go:embed schema.json
var schema string

// Schema returns the JSON Schema of a config file. The tests generate it from the structs that Parse decodes and the
// comments of the example. The schema rejects an unknown key, and a value that is wrong by itself or for the backend.
// Only Parse rejects other mistakes.
func Schema() string { return schema }
