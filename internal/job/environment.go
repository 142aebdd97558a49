package job

import (
	"slices"
	"strconv"
	"strings"
)

// The variables that a command receives.
const (
	nameVariable  = "COORDTOP_NAME"
	ownerVariable = "COORDTOP_OWNER"
	fenceVariable = "COORDTOP_FENCE"
	// FileVariable has the path of the deadline file. It differs from run to run, so that it also marks the processes
	// of a run, see markedBy.
	FileVariable = "COORDTOP_DEADLINE_FILE"
)

// environment returns the environment of the command.
func environment(o Options, deadlineFile string) []string {
	return append(Environ(o.Env, o.Name, o.Owner, o.Fence), FileVariable+"="+deadlineFile)
}

// Environ returns env with the variables about a lease, but for the deadline file. What a command around ours has put
// there is gone.
func Environ(env []string, name, owner string, fence uint64) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{nameVariable, ownerVariable, fenceVariable, FileVariable}, name)
	})
	env = append(env, nameVariable+"="+name, ownerVariable+"="+owner)
	if fence > 0 {
		env = append(env, fenceVariable+"="+strconv.FormatUint(fence, 10))
	}
	return env
}
