package config

// What the tests of the package see of it: they need the backends, which import it.

type (
	File       = file
	FileSource = fileSource
	FileWatch  = fileWatch
	Duration   = duration
)

const (
	MaxFile  = maxFile
	UTF8Mark = utf8Mark
)

var (
	CheckIdentity = checkIdentity
	TraitFor      = traitFor
)

func (b *Backend) Has(t Trait) bool { return b.has(t) }

func (all Backends) OnlyWith(t Trait) string { return all.onlyWith(t) }
