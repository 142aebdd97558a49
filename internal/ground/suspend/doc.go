// Package suspend tells for how long the machine was suspended. The monotonic clock stands
// still meanwhile on most systems, so that whatever must end in time has to add it.
//
// It may import nothing of this module.
package suspend

import "time"

// Noise is how far two readings of Slept may differ without the machine having slept: they
// are differences of two clocks read one after the other. A real suspend is longer.
const Noise = 10 * time.Millisecond
