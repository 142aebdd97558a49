package backends

import "coordtop/internal/config"

func dflockd() Backend {
	return Backend{Backend: config.Backend{
		Type: "dflockd", Title: "dflockd",
		Schemes: []config.Scheme{{Name: "dflockd", Port: "6388", Shown: "dflockd://", Plain: "dflockds"}, {Name: "dflockds", Port: "6388"}},
		Traits:  []config.Trait{config.Forget, config.Semaphores},
	}}
}
