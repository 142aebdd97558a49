// Package mask takes secrets out of texts that other people's programs wrote: the data of
// an owner, the name of an application, the text of a query.
//
// It may import nothing of this module.
//
// Text is for data. It replaces with Sign the password in a connection string, the value of a key such as password,
// secret or token, and any secret with a known form (a JWT, a PEM key, a vendor's access key).
//
// Query is for statements. It replaces every literal, every comment and the text after the word password with a
// question mark. Names and numbers stay, because a statement is useless without them; for example, a number can be the
// key of a lock.
//
// Both prefer to replace too much: if the end of a secret is not clear (a text that was cut, a quote that is not
// closed), everything up to the end of the text is replaced. They cannot find a secret that has neither a key before it
// nor a known form. Values that may prove ownership are therefore shown through internal/ground/legible, which keeps
// only names.
//
// The functions are pure, safe for concurrent use, and take time linear in the text.
package mask
