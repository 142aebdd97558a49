package format

import (
	"strconv"
	"time"
)

// Age writes a length of time in at most six characters, rounded down: "8s", "41s",
// "12m", "3h12m", "1d04h", "12d". Below ten minutes it keeps the seconds: "9m27s".
// A negative length is "0s".
func Age(d time.Duration) string {
	s := int64(max(d, 0) / time.Second)
	switch {
	case s < 60:
		return strconv.FormatInt(s, 10) + "s"
	case s < 600:
		return strconv.FormatInt(s/60, 10) + "m" + two(s%60) + "s"
	case s < 3600:
		return strconv.FormatInt(s/60, 10) + "m"
	case s < 86400:
		return strconv.FormatInt(s/3600, 10) + "h" + two(s/60%60) + "m"
	case s < 10*86400:
		return strconv.FormatInt(s/86400, 10) + "d" + two(s/3600%24) + "h"
	}
	return strconv.FormatInt(s/86400, 10) + "d"
}

// Left writes how long is left of something, in whole seconds rounded up, so that it
// reads 0s only when nothing is left. At a minute or more it is Age.
func Left(d time.Duration) string {
	if d <= 0 {
		return "0s"
	}
	if d > time.Minute {
		return Age(d)
	}
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10) + "s"
}

// Precise writes a length of time for a sentence: "0.8 ms", "210 ms", "3.8 s",
// "41 s", then as Age. A negative length is "0 ms".
func Precise(d time.Duration) string {
	switch d = max(d, 0); {
	case d == 0:
		return "0 ms"
	case d < 10*time.Millisecond:
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64) + " ms"
	case d < time.Second:
		return strconv.FormatInt(int64(d/time.Millisecond), 10) + " ms"
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64) + " s"
	case d < 2*time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	}
	return Age(d)
}

// Count writes n with a comma between thousands: "812,000".
func Count(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func two(n int64) string {
	if n < 10 {
		return "0" + strconv.FormatInt(n, 10)
	}
	return strconv.FormatInt(n, 10)
}
