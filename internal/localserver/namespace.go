package localserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
)

const ipInstallHint = "install it: apt-get install iproute2 (Debian, Ubuntu), dnf install iproute (Fedora), apk add iproute2 (Alpine)"

// Namespace is a network namespace joined to ours by one link, which can be cut as a
// cable can: no end is told anything, and neither kernel answers for the other. It has no
// name and no process, and vanishes with this process.
type Namespace struct {
	host, guest string // addresses
	veth        string // our end of the link
	inside      inside
}

// Addresses of the link layer, locally administered. wrongAddress is nobody's.
const (
	hostAddress  = "02:00:00:00:00:01"
	guestAddress = "02:00:00:00:00:02"
	wrongAddress = "02:00:00:00:00:99"
)

// NewNamespace makes a namespace and its link. The error wraps fs.ErrPermission when this
// process may not (it takes CAP_SYS_ADMIN and CAP_NET_ADMIN) and ErrMissing when the program
// ip is not installed; elsewhere than on Linux it always fails.
func NewNamespace(ctx context.Context) (*Namespace, error) {
	in, err := newInside()
	if err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	n := &Namespace{veth: "ct" + randomName()[:10], inside: in}
	n.host, n.guest = addressPair()
	err = runIP(ctx,
		"link add "+n.veth+" address "+hostAddress+" type veth peer name guest address "+guestAddress+" netns "+in.path(),
		"address add "+n.host+"/30 dev "+n.veth,
		"link set "+n.veth+" up")
	if err == nil {
		err = in.do(func() error {
			return runIP(ctx, "address add "+n.guest+"/30 dev guest", "link set guest up")
		})
	}
	if err == nil {
		err = n.Mend(ctx)
	}
	if err != nil {
		n.Close()
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	return n, nil
}

// addressPair draws two addresses out of those that are reserved for measuring networks
// (RFC 2544), which nothing real uses.
func addressPair() (host, guest string) {
	random := make([]byte, 2)
	_, _ = rand.Read(random) // never fails
	base := random[1] &^ 3
	return fmt.Sprintf("198.18.%d.%d", random[0], base+1), fmt.Sprintf("198.18.%d.%d", random[0], base+2)
}

// runIP has the program ip run commands.
func runIP(ctx context.Context, commands ...string) error {
	cmd := exec.CommandContext(ctx, "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n"))
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("ip is %w: %s", ErrMissing, ipInstallHint)
	case err != nil:
		return fmt.Errorf("running ip: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Host is our address on the link, for a server to listen on: see PostgresOptions.Listen.
func (n *Namespace) Host() string { return n.host }

// Dial connects from inside the namespace to one of our addresses on the link. Its
// signature is that of net.Dialer.DialContext; the address is a number, not a name.
func (n *Namespace) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = n.inside.do(func() error {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Cut lets nothing through any more, in either direction, and tells nobody.
func (n *Namespace) Cut(ctx context.Context) error {
	return n.neighbours(ctx, wrongAddress, wrongAddress)
}

// Mend ends Cut. Bytes that were sent meanwhile arrive when they are sent again.
func (n *Namespace) Mend(ctx context.Context) error {
	return n.neighbours(ctx, hostAddress, guestAddress)
}

// neighbours tells each side the other's address of the link layer once and for all, so that
// nothing but that decides what arrives.
func (n *Namespace) neighbours(ctx context.Context, host, guest string) error {
	const known = "neighbour replace %s lladdr %s dev %s nud permanent"
	if err := runIP(ctx, fmt.Sprintf(known, n.guest, guest, n.veth)); err != nil {
		return err
	}
	return n.inside.do(func() error { return runIP(ctx, fmt.Sprintf(known, n.host, host, "guest")) })
}

// Close removes the namespace and its link. Connections out of it die without a word.
func (n *Namespace) Close() { n.inside.close() }

// NamespaceForTest makes a namespace that is removed when the test ends. A missing right
// or program fails the test and says what is missing.
func NamespaceForTest(t TB) *Namespace {
	t.Helper()
	NeedsServer(t)
	n, err := NewNamespace(context.Background())
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(n.Close)
	return n
}
