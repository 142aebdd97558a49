// Package tape writes what happened to a Hub, and reads it back: Keyframes, the Inputs between them, and the terms and
// events that were made of these. It imports package sources only.
//
// An [Encoder] and a [Decoder] work in groups: a Keyframe, and behind it each Input as what differs from what the group
// has already. A State in an Input is left out; a [sources.Replayer] makes it. Lists of terms and of events can be
// decoded without a group, each alone or in pairs: see [Encoder.Terms] and [Encoder.Events].
//
// What is never shown is never encoded: a source hands over no nonce, no secret value and no literal of a query. Beside
// that no Guard is encoded, because with it one could act; a replay and what goes on from it have none. [EncoderOptions]
// leaves out more: the data of some sources, or, for a recording that is passed on, every name and text. Then a text
// stands for each, the same for the same one, and for each number that could be made of one a digest with a key that is
// kept nowhere.
//
// Each type has one function that names its fields, in their order, for writing and for reading: see package pack. A new
// field comes last. A file of each version of the codec is kept and read by a test.
package tape
