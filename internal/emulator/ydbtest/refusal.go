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

// The answers to those who lack a right.
var (
	noWrite = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to write"}
	noErase = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to erase"}
	noRead  = &refusal{Ydb.StatusIds_UNAUTHORIZED, "no right to read"}
)

// issueList is what the wire calls the texts of an answer.
type issueList = []*Ydb_Issue.IssueMessage

// refuse is the reply of a refusal that is made on the spot.
func refuse(code Ydb.StatusIds_StatusCode, text string) (Ydb.StatusIds_StatusCode, issueList) {
	return code, issues(text)
}

// reply is the status and the issues of a refusal; nil is SUCCESS.
func (r *refusal) reply() (Ydb.StatusIds_StatusCode, issueList) {
	if r == nil {
		return Ydb.StatusIds_SUCCESS, nil
	}
	return r.status, issues(r.text)
}

func issues(text string) issueList {
	const severityError = 1 // NYql::TSeverityIds::S_ERROR
	return []*Ydb_Issue.IssueMessage{{Message: text, Severity: severityError}}
}
