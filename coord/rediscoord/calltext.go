package rediscoord

import (
	"fmt"
	"strconv"

	"coordtop/coord"
)

// Wire is what a call sends, in a line, with the nonce as <nonce>: see the scripts in lua. It is
// "" for what Redis does not have.
func (o Options) Wire(call coord.Call, c coord.Claim) string {
	key, value, again := strconv.Quote(c.Name), "<nonce>", ""
	if len(c.Data) > 0 {
		value = coord.Quoted(append([]byte("<nonce> "), c.Data...))
	}
	if c.Wait != 0 {
		again = "; again at most every second"
	}
	switch call {
	case coord.CallAcquire:
		return fmt.Sprintf("script: SET %s %s PX %d, if there is no such key%s", key, value, o.TTL.Milliseconds(), again)
	case coord.CallPublish:
		return fmt.Sprintf("script: SET %s %s KEEPTTL, if its value is ours", key, value)
	case coord.CallRelease:
		return fmt.Sprintf("script: DEL %s, if its value is ours", key)
	}
	return ""
}
