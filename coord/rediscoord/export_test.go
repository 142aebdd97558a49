package rediscoord

// AcquireSHA is what every try to take a key contains, and nothing else.
func AcquireSHA() string { return acquireScript.Hash() }
