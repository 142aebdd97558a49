package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles the expression at its first call. It panics if the expression is invalid. It
// is safe for concurrent use.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
