package coord

import "strconv"

// Call is a request that a driver sends. A driver's method Wire returns it as a line for a
// person to read before it is sent; the Claim says what the request is about.
type Call uint8

// The calls.
const (
	CallAcquire   Call = iota + 1 // of the Claim
	CallPublish                   // its Data, beside our ownership
	CallRelease                   // of its Name and Mode
	CallCreate                    // of Name, with its Limit and Data
	CallUpdate                    // its Data, of Name itself
	CallDelete                    // of Name
	CallMakeSpace                 // whose path is Name
)

// Quoted writes data for the line of a Call, of long data the beginning only.
func Quoted(data []byte) string {
	const most = 300
	if len(data) > most {
		return strconv.Quote(string(data[:most]) + "...")
	}
	return strconv.Quote(string(data))
}
