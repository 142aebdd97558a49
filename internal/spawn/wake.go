package spawn

// Wake wakes the receiver of c, whose capacity is 1: several wake-ups may become one. It does not
// block.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
