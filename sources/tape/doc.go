// Package tape writes the history of a Hub, and reads it back: Keyframes, the Inputs between them, and the terms and
// events that resulted from these.
//
// It may import sources, sources/tape/internal/pack.
//
// An [Encoder] and a [Decoder] work in groups: a Keyframe, and after it each Input as its difference from the values
// that the group has already. The State of an Input is left out; a [sources.Replayer] makes it. Lists of terms and of
// events can be decoded without a group, see [Encoder.Terms] and [Encoder.Events].
//
// Secrets are never encoded, because a source sends no nonce, no secret value and no literal of a query. Guards are not
// encoded either, because they permit actions; a replay, and a Hub that resumes from a recording, have none.
// [EncoderOptions] leaves out more: the data of some sources, or, for a recording that is passed on, every name and
// text. In the second case each text is replaced, equal texts by the same replacement, and each number that could be
// computed from a text is replaced by a digest with a key that is not stored.
//
// Each type has one function that names its fields, in their order, for writing and for reading: see package pack. A new
// field comes last. A test reads a stored file of each version of the codec.
package tape
