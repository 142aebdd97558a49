// Package lint holds no code: its tests read the source of the whole module and
// fail where a rule of the project is broken that no compiler sees: which package
// may import which, what must not be called where, how long files and functions may
// grow, which words are used. Each rule brings small sources that break it, so that a
// rule that sees nothing fails too. That a method which needs a lock ends in Locked is left
// to readers: whether one needs it cannot be told from its text. The race detector has nothing
// to see here, where no code of ours runs, and would read the source for half a minute: the
// tests are not built for it.
//
// It may import nothing of this module.
package lint
