package spawn

// Wake wakes the receiver of c, whose capacity is 1: what it holds stands for any number of
// wake-ups. It does not block.
func Wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
