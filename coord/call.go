package coord

import "strconv"

// Call is a request that a driver sends, for a person to read before it is sent. Drivers have a
// function Wire, which takes what the request is about as a Claim.
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

// Quoted is data as it stands in the line of a Call; of long data only the beginning.
func Quoted(data []byte) string {
	const most = 300
	if len(data) > most {
		return strconv.Quote(string(data[:most]) + "...")
	}
	return strconv.Quote(string(data))
}
