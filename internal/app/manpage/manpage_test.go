package manpage

import "testing"

func TestTextsOfTheManualAreNotTakenForRequests(t *testing.T) {
	t.Parallel()
	m := &page{}
	m.literal(".TH x\n'br\n  \\fB -o")
	m.macro("SH", `a "b"`)
	want := ".PP\n.in 2n\n.nf\n\\&.TH x\n\\&'br\n  \\efB \\-o\n.fi\n.in\n.SH \"a \\(dqb\\(dq\"\n"
	if got := m.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
