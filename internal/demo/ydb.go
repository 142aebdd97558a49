package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"coordtop/internal/emulator/ydbtest"
)

// The coordination node of the demo, and what is made in it before anybody comes.
const (
	ydbNode        = "/local/demo"
	ydbScheduler   = "scheduler"
	ydbSettings    = "settings"
	ydbConnections = "connections"
	ydbExport      = "nightly-export"
	ydbServices    = "services"

	connectionLimit = 10
)

// startYDB starts the emulator with two front ends, which stand for two YDB nodes: clients
// are told of both.
func startYDB(ctx context.Context, port int) (server, error) {
	if port == 2135 || port == 2136 {
		return nil, fmt.Errorf("starting the YDB emulator: %d is a standard port: choose another", port)
	}
	// Strangers may count on the order of owners, although the service promises none.
	o := ydbtest.Options{AdvertiseAll: true, OwnersInOrder: true, Guard: guard(ctx)}
	if port != 0 {
		o.Listen = []string{"127.0.0.1:" + strconv.Itoa(port)}
	}
	s, err := ydbtest.Start(o)
	if err != nil {
		return nil, fmt.Errorf("starting the YDB emulator: %w", err)
	}
	if err := furnish(s); err != nil {
		_ = s.Close() // nobody has used it
		return nil, err
	}
	return emulator{s.URL(0), s}, nil
}

// furnish makes what clients expect to be there.
func furnish(served *ydbtest.Server) error {
	if err := served.CreateNode(ydbNode); err != nil {
		return fmt.Errorf("making the demo's coordination node: %w", err)
	}
	for _, s := range []struct {
		name  string
		limit uint64
		data  []byte
	}{
		{ydbScheduler, 1, nil}, {ydbSettings, 1, settings{Version: 1, Workers: 8}.encode()}, {ydbConnections, connectionLimit, nil},
	} {
		if err := served.CreateSemaphore(ydbNode, s.name, s.limit, s.data); err != nil {
			return fmt.Errorf("making the demo's semaphore %s: %w", s.name, err)
		}
	}
	return nil
}

// settings are the shared configuration.
type settings struct {
	Version int `json:"version"`
	Workers int `json:"workers"`
}

func (s settings) encode() []byte {
	return fmt.Appendf(nil, `{"version":%d,"workers":%d}`, s.Version, s.Workers)
}

func decodeSettings(data []byte) (settings, error) {
	var s settings
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading the settings: %w", err)
	}
	return s, nil
}
