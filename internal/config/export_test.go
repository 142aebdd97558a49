package config

// What the tests of the package see of it: they need the backends, which import it.

type File = file

const (
	MaxFile   = maxFile
	MaxTokens = maxTokens
	UTF8Mark  = utf8Mark
)

var CheckIdentity = checkIdentity
