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

var (
	// ErrNoRight is wrapped when this process may not do what it was asked; the text says
	// which right it lacks.
	ErrNoRight = errors.New("not permitted")
	// ErrNoNamespaces is wrapped on systems without network namespaces.
	ErrNoNamespaces = errors.New("this system has no network namespaces")
)

const ipInstallHint = "install it: apt-get install iproute2 (Debian, Ubuntu), dnf install iproute (Fedora), apk add iproute2 (Alpine)"

// Namespace is a network namespace joined to ours by one link, which can be cut as a
// cable can: no end is told anything, and neither kernel answers for the other. It has no
// name and no process, and vanishes with this process.
type Namespace struct {
	host, guest net.IP
	veth        string // our end of the link
	inside      inside
}

// guestEnd is the name of the link's end inside.
const guestEnd = "guest"

// NewNamespace makes a namespace and its link. The error wraps ErrNoRight when this
// process may not (it takes CAP_SYS_ADMIN and CAP_NET_ADMIN), ErrMissing when the program
// ip is not installed, and ErrNoNamespaces elsewhere than on Linux.
func NewNamespace(ctx context.Context) (*Namespace, error) {
	ip, err := exec.LookPath("ip")
	if err != nil {
		return nil, fmt.Errorf("making a network namespace: ip is %w: %s", ErrMissing, ipInstallHint)
	}
	in, err := newInside()
	if err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	name := randomName()
	n := &Namespace{veth: "ct" + name[:10], inside: in}
	n.host, n.guest = addressPair()
	if err := n.link(ctx, ip); err != nil {
		n.Close()
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	return n, nil
}

// addressPair draws two addresses out of those that are reserved for measuring networks
// (RFC 2544), which nothing real uses.
func addressPair() (host, guest net.IP) {
	random := make([]byte, 2)
	_, _ = rand.Read(random) // never fails
	base := random[1] &^ 3
	return net.IPv4(198, 18, random[0], base+1), net.IPv4(198, 18, random[0], base+2)
}

// link joins the namespaces. The neighbours are told each other's address of the link
// layer once and for all, so that nothing but that decides what arrives.
func (n *Namespace) link(ctx context.Context, ip string) error {
	outside := func(args ...string) error { return runIP(ctx, ip, args...) }
	within := func(args ...string) error { return n.inside.do(func() error { return runIP(ctx, ip, args...) }) }
	steps := []func() error{
		func() error {
			return outside("link", "add", n.veth, "address", hostAddress, "type", "veth",
				"peer", "name", guestEnd, "address", guestAddress, "netns", n.inside.path())
		},
		func() error { return outside("address", "add", n.host.String()+"/30", "dev", n.veth) },
		func() error { return outside("link", "set", n.veth, "up") },
		func() error { return within("address", "add", n.guest.String()+"/30", "dev", guestEnd) },
		func() error { return within("link", "set", guestEnd, "up") },
		func() error { return n.neighbours(ctx, ip, hostAddress, guestAddress) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Addresses of the link layer, locally administered. wrongAddress is nobody's.
const (
	hostAddress  = "02:00:00:00:00:01"
	guestAddress = "02:00:00:00:00:02"
	wrongAddress = "02:00:00:00:00:99"
)

// neighbours tells each side where the other is.
func (n *Namespace) neighbours(ctx context.Context, ip, host, guest string) error {
	err := runIP(ctx, ip, "neighbour", "replace", n.guest.String(), "lladdr", guest, "dev", n.veth, "nud", "permanent")
	if err != nil {
		return err
	}
	return n.inside.do(func() error {
		return runIP(ctx, ip, "neighbour", "replace", n.host.String(), "lladdr", host, "dev", guestEnd, "nud", "permanent")
	})
}

func runIP(ctx context.Context, ip string, args ...string) error {
	out, err := exec.CommandContext(ctx, ip, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("running ip %s: %w: %s", strings.Join(args[:2], " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Host is our address on the link, for a server to listen on: see PostgresOptions.Listen.
func (n *Namespace) Host() string { return n.host.String() }

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
	return n.address(ctx, "cutting the link", wrongAddress, wrongAddress)
}

// Mend ends Cut. Bytes that were sent meanwhile arrive when they are sent again.
func (n *Namespace) Mend(ctx context.Context) error {
	return n.address(ctx, "mending the link", hostAddress, guestAddress)
}

func (n *Namespace) address(ctx context.Context, what, host, guest string) error {
	ip, err := exec.LookPath("ip")
	if err == nil {
		err = n.neighbours(ctx, ip, host, guest)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
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
