// Package schematest checks JSON against the JSON Schemas that coordtop prints, with a validator that knows nothing of
// coordtop, as an editor or another program does. It also checks formats, for example of a time.
//
// It may import nothing of this module.
package schematest
