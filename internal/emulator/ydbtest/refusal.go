package ydbtest

import (
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Issue"
)

// refusal is a status other than SUCCESS with a text for people.
type refusal struct {
	status Ydb.StatusIds_StatusCode
	text   string
}

// The answers to requests without the right, and to requests that name something unknown.
var (
	noWrite = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to write"}
	noErase = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to erase"}
	noRead  = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to read"}
	noRight = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to do this"}

	noSemaphore = &refusal{Ydb.StatusIds_NOT_FOUND, "there is no such semaphore"}
)

// reply returns the status and the issues of a refusal; SUCCESS if r is nil.
func (r *refusal) reply() (Ydb.StatusIds_StatusCode, []*Ydb_Issue.IssueMessage) {
	if r == nil {
		return Ydb.StatusIds_SUCCESS, nil
	}
	return r.status, issues(r.text)
}

func issues(text string) []*Ydb_Issue.IssueMessage {
	const severityError = 1 // NYql::TSeverityIds::S_ERROR
	return []*Ydb_Issue.IssueMessage{{Message: text, Severity: severityError}}
}
