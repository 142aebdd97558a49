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

// Namespace is a network namespace that is joined to ours by one link. The link can be cut like a cable: neither end is
// notified, and neither kernel answers for the other. The namespace has no name and no process of its own, and ends
// with this process.
type Namespace struct {
	host, guest string // addresses
	veth        string // our end of the link
	inside      inside
}

// Addresses of the link layer, locally administered. wrongAddress belongs to no interface.
const (
	hostAddress  = "02:00:00:00:00:01"
	guestAddress = "02:00:00:00:00:02"
	wrongAddress = "02:00:00:00:00:99"
)

// NewNamespace makes a namespace and its link. The error wraps fs.ErrPermission if this process lacks CAP_SYS_ADMIN or
// CAP_NET_ADMIN, and ErrMissing if the program ip is not installed. On systems other than Linux it always fails.
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

// addressPair returns two random addresses of the range for network benchmarks (RFC 2544), which no real network uses.
func addressPair() (host, guest string) {
	random := make([]byte, 2)
	_, _ = rand.Read(random) // never fails
	base := random[1] &^ 3
	return fmt.Sprintf("198.18.%d.%d", random[0], base+1), fmt.Sprintf("198.18.%d.%d", random[0], base+2)
}

// runIP runs commands of the program ip.
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

// Host returns our address on the link, on which a server can listen, see PostgresOptions.Listen.
func (n *Namespace) Host() string { return n.host }

// Dial connects from inside the namespace to one of our addresses on the link. Its signature is that of
// net.Dialer.DialContext; the address must be numeric, not a name.
func (n *Namespace) Dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	err = n.inside.do(func() error {
		conn, err = (&net.Dialer{}).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Cut drops everything in both directions, without notifying either end.
func (n *Namespace) Cut(ctx context.Context) error {
	return n.neighbours(ctx, wrongAddress, wrongAddress)
}

// Mend ends Cut. Bytes that were sent during the cut arrive when TCP sends them again.
func (n *Namespace) Mend(ctx context.Context) error {
	return n.neighbours(ctx, hostAddress, guestAddress)
}

// neighbours sets the link-layer address of the other end permanently at each end, so that only these addresses decide
// whether packets arrive.
func (n *Namespace) neighbours(ctx context.Context, host, guest string) error {
	const known = "neighbour replace %s lladdr %s dev %s nud permanent"
	if err := runIP(ctx, fmt.Sprintf(known, n.guest, guest, n.veth)); err != nil {
		return err
	}
	return n.inside.do(func() error { return runIP(ctx, fmt.Sprintf(known, n.host, host, "guest")) })
}

// Close removes the namespace and its link. Connections out of it break without a reset.
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
