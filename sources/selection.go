package sources

// Selection says which primitives of a source are watched.
type Selection struct {
	Kind     Kind   // KindUnknown: the source tells it by the name, or as the service lists it
	Pattern  string // a name, or a pattern in the language of the backend
	Expected bool   // must always have an owner
	Node     string // of YDB alone: the path of the coordination node; "": each one that is watched
}
