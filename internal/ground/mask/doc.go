// Package mask takes secrets out of texts that other people's programs wrote: the data of
// an owner, the name of an application, the text of a query.
//
// It may import nothing of this module.
//
// Text is for data. It replaces by Sign the password in a connection string, the value of a key such as password,
// secret or token, and any secret with a known form (a JWT, a PEM key, a vendor's access key).
//
// Query is for statements. It replaces every literal, every comment and the text behind the word password by a question
// mark. Names and numbers stay, since a statement is useless without them; a number can be the key of a lock.
//
// Both rather replace too much: where the end of a secret is not clear (a text that was cut, a quote that is not
// closed) it ends with the text. They cannot find a secret without a key before it or a known form: for values that may
// prove ownership internal/ground/legible shows only what is surely a name.
//
// The functions are pure, safe for concurrent use, and take time linear in the text.
package mask
