package address

import "strings"

// Near returns the word of known that the author of text probably meant: the first of those with the fewest typing
// errors (a letter wrong, missing, too many, or two swapped). It returns "" if there are more than two errors, or more
// than one in a text of four letters or fewer. It ignores case.
func Near(text string, known ...string) string {
	text = strings.ToLower(text)
	best, fewest := "", 3
	for _, word := range known {
		most := 2
		if min(len(text), len(word)) <= 4 {
			most = 1
		}
		if max(len(text), len(word))-min(len(text), len(word)) > most {
			continue // so nothing long is compared
		}
		if n := typingErrors(text, strings.ToLower(word)); n <= most && n < fewest {
			best, fewest = word, n
		}
	}
	return best
}

// typingErrors returns the optimal string alignment distance of two texts, in bytes.
func typingErrors(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range b {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			wrong := 1
			if a[i-1] == b[j-1] {
				wrong = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+wrong)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
