package config

import _ "embed"

//go:embed schema.json
var schema string

// Schema returns the JSON Schema of a config file. The tests generate it from the structs that Parse decodes and
// the comments of the example. It refuses an unknown key, and a value that is wrong by itself or for the backend;
// Parse refuses the rest.
func Schema() string { return schema }
