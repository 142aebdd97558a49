// Package mask takes secrets out of texts that other people's programs wrote: the data of
// an owner, the name of an application, the text of a query.
//
// Text is for data: a connection string loses its password, a key such as password, secret
// or token its value, and what is known by its form (a JWT, a PEM key, a vendor's access
// key) is lost whole. Each becomes Sign.
//
// Query is for statements: every literal, every comment and whatever follows the word
// password becomes a question mark. Names and numbers stay, for without them a statement
// says nothing; a number can be the key of a lock.
//
// Both prefer to take too much: where it is not clear where a secret ends (a text that was
// cut, a quote that is not closed) it ends with the text. A secret that nothing announces
// cannot be found: for values that may prove ownership there is internal/ground/legible, which
// shows only what is surely a name.
//
// The functions are pure, safe for concurrent use, and take time linear in the text.
package mask
