// Package suspend measures the time for which the machine was suspended. On most systems a suspend stops the monotonic
// clock, so deadlines that must hold have to add that time.
//
// It may import nothing of this module.
package suspend

import "time"

// Noise is the most by which two readings of Slept may differ although the machine did not sleep, because each is the
// difference of two clocks that are read one after the other. A real suspend is longer.
const Noise = 10 * time.Millisecond
