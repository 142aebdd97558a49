package dflockwire

// ParseStats reads the object of stats.
var ParseStats = parseStats
