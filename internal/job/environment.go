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

// environment returns the environment of the command. What a command around ours has put there is gone.
func environment(o Options, deadlineFile string) []string {
	env := slices.DeleteFunc(slices.Clone(o.Env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{nameVariable, ownerVariable, fenceVariable, FileVariable}, name)
	})
	env = append(env, nameVariable+"="+o.Name, ownerVariable+"="+o.Owner, FileVariable+"="+deadlineFile)
	if o.Fence > 0 {
		env = append(env, fenceVariable+"="+strconv.FormatUint(o.Fence, 10))
	}
	return env
}
