package backends

import (
	"coordtop/coord"
	"coordtop/internal/action"
)

// reason is the text of an error; "": none.
func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sent makes of what a driver says of its calls what an action sends.
func sent(wire func(coord.Call, coord.Claim) string) func(action.Request) string {
	calls := map[action.Verb]coord.Call{
		action.Acquire: coord.CallAcquire, action.Campaign: coord.CallAcquire, action.Try: coord.CallAcquire,
		action.Proclaim: coord.CallPublish, action.Resign: coord.CallRelease,
		action.Create: coord.CallCreate, action.Update: coord.CallUpdate, action.Delete: coord.CallDelete, action.CreateNode: coord.CallMakeSpace,
	}
	return func(r action.Request) string {
		c := coord.Claim{
			Kind: r.Target.Kind, Name: r.Target.Ref.Name, Mode: r.Mode,
			Permits: r.Permits, Limit: r.Limit, Data: r.Data, Wait: coord.Forever,
		}
		if r.Verb == action.Try {
			c.Wait = 0
		}
		if r.Verb == action.CreateNode {
			c.Name = r.Target.Ref.Space
		}
		return wire(calls[r.Verb], c)
	}
}
