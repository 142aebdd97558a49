package dflockcoord

import "coordtop/coord"

// NonceOf returns the nonce of the first permit of a grant of this package.
func NonceOf(g coord.Grant) string { return g.(*grant).nonces[0] }
