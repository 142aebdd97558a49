package config

import _ "embed"

//go:embed schema.json
var schema string

// Schema is a JSON Schema of config files, for editors. The tests make it of what Parse decodes, with the
// comments of the example. It refuses a key or a value that is wrong by itself or for the backend of its
// source, and leaves to Parse what more must be read to judge it.
func Schema() string { return schema }
