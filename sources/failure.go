package sources

// Failure is what keeps a server from serving us, where that happens with servers of every
// kind. Each has one sentence, which is completed by a Contact.
type Failure uint8

// The failures. Those up to Unopened are found while connecting.
const (
	NoHost         Failure = iota // its name is known to nobody
	NoNameServer                  // nobody could be asked for its name
	NothingListens                // the port is closed
	NoSocket                      // there is no such Unix socket
	NoRoute                       // packets do not get there
	Forbidden                     // our own machine does not allow it
	NoAnswer                      // nothing was ever heard
	ClosedAtOnce                  // the connection ends before anything was heard
	Foreign                       // something else than such a server answers
	Other                         // a server of another kind listens there
	Lies                          // it says what no such server would, which costs much to read
	NoTLS                         // we speak TLS and the server does not
	OnlyTLS                       // the other way round
	TLSFailed                     // the handshake ends for a reason that only the server knows
	Untrusted                     // its certificate is signed by somebody unknown
	BadCertificate                // its certificate is not good for something else
	Unopened                      // anything else

	Silent  // no answer any more
	Closed  // the server ended the connection
	Broken  // anything else
	GivenUp // by ourselves

	NoPassword    // it wants one
	WrongPassword // the one that we gave
	NoSecret      // NoPassword where there are no users
	WrongSecret   // WrongPassword there
	WrongLogin    // the same of another kind of credentials
	NotLetIn      // our user, whatever the password
	NoRight       // a right is missing
	NoDatabase    // the database that we name
	Full          // it has no connection left
	NotNow        // it starts, reads its data, or has too much to do
	Stopping      // it stops, or somebody ended our session
	Refuses       // anything else that it answers
	failures      // how many there are
)

// sentence is what is said of a failure. In braces stand the words of a Contact.
type sentence struct {
	text    string
	refused bool // only somebody else can change it
	login   bool // it is our user or password
}

// server begins what a server says of itself.
const server = "the server at {where} "

// sentences are in the order of the failures: what is wrong, where, what to do. The
// trouble comes first, because narrow screens cut the rest.
var sentences = [failures]sentence{
	NoHost:         {text: "there is no host by the name in {where}: check its spelling, or the name server"},
	NoNameServer:   {text: "the name server does not answer for {where}: check the network"},
	NothingListens: {text: "nothing listens at {where}: check {place}, and whether the server runs"},
	NoSocket:       {text: "there is no socket at {where}: check the path, and whether the server runs"},
	NoRoute:        {text: "there is no route to {where}: check the address and the network"},
	Forbidden:      {text: "this machine does not allow connections to {where}: check the rights of the socket, or the firewall"},
	NoAnswer:       {text: "no answer from {where}: check {place}, and whether {product} listens there{with TLS}"},
	ClosedAtOnce:   {text: "{where} closes the connection at once: it may not be {product}, have no room for us ({full}), {want TLS}or be stopping"},
	Foreign:        {text: "{where} is not {product}: check {place}{(said)}", refused: true},
	Other:          {text: "{where} is {said}", refused: true},
	Lies:           {text: "{where} sent {said}: it is not {product}, or something between changes its answers: check {place}", refused: true},
	NoTLS:          {text: server + "speaks no TLS: {no TLS}", refused: true},
	OnlyTLS:        {text: server + "speaks only TLS: {only TLS}", refused: true},
	TLSFailed:      {text: server + "breaks off TLS: it may want a certificate of ours ({certificate}), or speak no TLS ({no TLS}){(said)}"},
	Untrusted:      {text: "the certificate of {where} is signed by an authority that is not trusted: name it with {authority}", refused: true},
	BadCertificate: {text: "the certificate of {where} is not accepted: check the name in the URL, and until when it is valid{(said)}", refused: true},
	Unopened:       {text: "cannot connect to {where}: {said}"},

	Silent:  {text: "no answer from {where}{for so long}"},
	Closed:  {text: "{where} closed the connection"},
	Broken:  {text: "the connection to {where} broke: {said}"},
	GivenUp: {text: "watching {where} was given up"},

	NoPassword:    {text: server + "wants a password{of user}: give {password}{(said)}", refused: true, login: true},
	WrongPassword: {text: server + "refuses the password of {user}: check both{(said)}", refused: true, login: true},
	NoSecret:      {text: server + "wants an auth token: give {password}{(said)}", refused: true, login: true},
	WrongSecret:   {text: server + "refuses our auth token: check it{(said)}", refused: true, login: true},
	WrongLogin:    {text: server + "refuses our credentials: they may have run out{(said)}", refused: true, login: true},
	NotLetIn:      {text: server + "does not let {user} in: check the user{(said)}", refused: true, login: true},
	NoRight:       {text: "{user} lacks a right at {where}: {said}", refused: true},
	NoDatabase:    {text: server + "has no database {database}: check it in the URL{(said)}", refused: true},
	Full:          {text: server + "has no connection left for {user}: see {full}{(said)}"},
	NotNow:        {text: server + "cannot serve us now: {said}"},
	Stopping:      {text: server + "ended our session, or is stopping{(said)}"},
	Refuses:       {text: server + "refuses: {said}"},
}
