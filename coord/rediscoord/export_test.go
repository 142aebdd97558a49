package rediscoord

// AcquireSHA stands in every try to take a key, and in no other command.
func AcquireSHA() string { return acquireScript.Hash() }
