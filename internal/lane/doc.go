// Package lane is the arithmetic of time: from the terms of a primitive that one alone can own, the
// stretches in which it was not observed, and how its looks were made, it computes what every surface
// shows. It is pure: it reads no clock and does no IO, and the same lane has the same answer everywhere.
package lane
