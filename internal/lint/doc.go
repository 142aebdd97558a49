// Package lint holds no code: its tests read the source of the whole module and
// fail where a rule of the project is broken that no compiler sees: which package
// may import which, what must not be called where, how long a file may grow.
package lint
