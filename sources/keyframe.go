package sources

// Keyframe is a whole model of a Hub at one instant, behind the Input numbered Seq: what a
// recording begins with. It is never changed.
type Keyframe struct{}
