// Package schematest checks JSON against the JSON Schemas that coordtop prints, as an editor or a
// program of somebody else does: by a validator that knows nothing of coordtop. Formats, as that of
// a time, are checked too.
//
// It may import nothing of this module.
package schematest
