package ydbcoord

import (
	"fmt"
	"strconv"

	"coordtop/coord"
)

// Wire is what a call sends, in a line.
func (Options) Wire(call coord.Call, c coord.Claim) string {
	name, count, timeout, data := strconv.Quote(c.Name), strconv.FormatUint(max(c.Permits, 1), 10), "", ""
	if c.Kind == coord.KindMutex {
		count = "all permits, ephemeral"
	}
	if c.Wait == 0 {
		timeout = ", timeout 0"
	}
	if len(c.Data) > 0 {
		data = " with the data " + coord.Quoted(c.Data)
	}
	switch call {
	case coord.CallAcquire:
		return fmt.Sprintf("acquire_semaphore %s, count %s%s%s, in a session of its own", name, count, timeout, data)
	case coord.CallPublish:
		return fmt.Sprintf("acquire_semaphore %s once more, timeout 0%s", name, data)
	case coord.CallRelease:
		return "release_semaphore " + name
	case coord.CallCreate:
		return fmt.Sprintf("create_semaphore %s, limit %d%s", name, max(c.Limit, 1), data)
	case coord.CallUpdate:
		return fmt.Sprintf("update_semaphore %s%s", name, data)
	case coord.CallDelete:
		return "delete_semaphore " + name + ", without force"
	case coord.CallMakeSpace:
		return "CreateNode " + name
	}
	return ""
}
