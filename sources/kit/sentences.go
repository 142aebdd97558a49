package kit

import "coordtop/sources"

// failures is the number of failures.
const failures = sources.Refuses + 1

// sentence describes a failure. A Contact fills in the placeholders in braces.
type sentence struct {
	text    string
	refused bool // see sources.Problem
	login   bool // see sources.Problem
}

// server is the beginning of a sentence about the server's own answer.
const server = "the server at {where} "

// sentences has a sentence for each failure, in their order: what is wrong, where, what to do. What is wrong comes
// first, because narrow screens cut the rest.
var sentences = [failures]sentence{
	sources.NoHost:         {text: "there is no host by the name in {where}: check its spelling, or the name server"},
	sources.NoNameServer:   {text: "the name server does not answer for {where}: check the network"},
	sources.NothingListens: {text: "nothing listens at {where}: check {place}, and whether the server runs"},
	sources.NoSocket:       {text: "there is no socket at {where}: check the path, and whether the server runs"},
	sources.NoRoute:        {text: "there is no route to {where}: check the address and the network"},
	sources.Forbidden:      {text: "this machine does not allow connections to {where}: check the rights of the socket, or the firewall"},
	sources.NoAnswer:       {text: "no answer from {where}: check {place}, and whether {product} listens there{with TLS}"},
	sources.ClosedAtOnce:   {text: "{where} closes the connection at once: it may not be {product}, have no room for us ({full}), {want TLS}or be stopping"},
	sources.Foreign:        {text: "{where} is not {product}: check {place}{(said)}", refused: true},
	sources.Other:          {text: "{where} is {said}", refused: true},
	sources.Lies:           {text: "{where} sent {said}: it is not {product}, or something between changes its answers: check {place}", refused: true},
	sources.NoTLS:          {text: server + "speaks no TLS: {no TLS}", refused: true},
	sources.OnlyTLS:        {text: server + "speaks only TLS: {only TLS}", refused: true},
	sources.TLSFailed:      {text: server + "breaks off TLS: it may want a certificate of ours ({certificate}), or speak no TLS ({no TLS}){(said)}"},
	sources.Untrusted:      {text: "the certificate of {where} is signed by an authority that is not trusted: name it with {authority}", refused: true},
	sources.BadCertificate: {text: "the certificate of {where} is not accepted: check the name in the URL, and until when it is valid{(said)}", refused: true},
	sources.Unopened:       {text: "cannot connect to {where}: {said}"},

	sources.Silent:  {text: "no answer from {where}{for so long}"},
	sources.Closed:  {text: "{where} closed the connection"},
	sources.Broken:  {text: "the connection to {where} broke: {said}"},
	sources.GivenUp: {text: "watching {where} was given up"},

	sources.NoPassword:    {text: server + "wants a password{of user}: give {password}{(said)}", refused: true, login: true},
	sources.WrongPassword: {text: server + "refuses the password of {user}: check both{(said)}", refused: true, login: true},
	sources.NoSecret:      {text: server + "wants an auth token: give {password}{(said)}", refused: true, login: true},
	sources.WrongSecret:   {text: server + "refuses our auth token: check it{(said)}", refused: true, login: true},
	sources.WrongLogin:    {text: server + "refuses our credentials: they may have run out{(said)}", refused: true, login: true},
	sources.NotLetIn:      {text: server + "does not let {user} in: check the user{(said)}", refused: true, login: true},
	sources.NoRight:       {text: "{user} lacks a right at {where}: {said}", refused: true},
	sources.NoDatabase:    {text: server + "has no database {database}: check it in the URL{(said)}", refused: true},
	sources.Full:          {text: server + "has no connection left for {user}: see {full}{(said)}"},
	sources.NotNow:        {text: server + "cannot serve us now: {said}"},
	sources.Stopping:      {text: server + "ended our session, or is stopping{(said)}"},
	sources.Refuses:       {text: server + "refuses: {said}"},
}
