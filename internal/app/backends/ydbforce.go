package backends

import (
	"fmt"
	"strconv"
	"strings"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// ydbForce is how what others own on YDB is ended: by nothing but waiting, unless the source
// has clients_unprotected, or allows that semaphores are made anew.
func ydbForce(s config.Source) *operate.Force {
	return &operate.Force{
		WholeSession: s.ClientsUnprotected, AllOwners: !s.ClientsUnprotected,
		NoCancel: "only its own session can leave the queue, and stopping that would end all that it owns: its program or its timeout ends the wait",
		Refuses: func(row *sources.Row, _ *sources.Owner) string {
			switch {
			case s.ClientsUnprotected:
				return ""
			case !s.AllowRecreate:
				return "it ends when its program ends or is cut off (JavaScript and Python 30 to 40 s later, Go 7 to 9 s), " +
					"never while that answers; the config may allow more: clients_unprotected, allow_recreate"
			case row.Ephemeral:
				return "it is ephemeral, as every mutex, and cannot be deleted: it ends with its owner's session; the config may allow more: clients_unprotected"
			}
			return ""
		},
		Effect: func(row *sources.Row, _ *sources.Owner) []string {
			if s.ClientsUnprotected {
				return []string{
					"Only for owners without a protection key (JavaScript, Python). In Go, C++, Java and Rust nothing is released, but the owner's connection may be cut: " +
						"Rust then loses its session, and an owner that does not attach again owns until the node's tablet restarts.",
					"Attaches to the session of its owner and stops it. The owner is read just before; what changes in that instant is lost.",
					"The owner's library notices at once: JavaScript and Python report that the session has expired. Its program may go on working.",
				}
			}
			return []string{
				fmt.Sprintf("Deletes the semaphore for all its owners (%d) and waiters (%d), and creates it again with limit %d and its data (%d bytes).",
					len(row.Owners), row.Queue.Len, sources.Permits(row.Limit), row.Data.Len),
				"YDB tells owners nothing: they go on working until they ask, and a proclamation of theirs may still be written to the new semaphore.",
				"YDB compares nothing: the owner is read just before; what changes in that instant is lost. Claims in between are answered NOT_FOUND.",
			}
		},
	}
}

// ydbForceCall is what a force-release sends, in a line.
func ydbForceCall(s config.Source, t action.Target) string {
	name := strconv.Quote(t.Ref.Name)
	if s.ClientsUnprotected {
		session, _, _ := strings.Cut(t.Guard, "/")
		return "describe_semaphore " + name + ", session_start of session " + session + " without a key, session_stop"
	}
	return "describe_semaphore " + name + ", delete_semaphore " + name + " with force, create_semaphore " + name
}
