package legible_test

import (
	"strings"
	"testing"

	"coordtop/internal/ground/legible"
)

func TestNameIsPositive(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"worker-b": true, "billing": true, "web-1:4711": true, "ana@desk:1": true, "my own lock": true, "büro-1": true, "4711": true,
		"orders-api-5d8f7c9b6d-x2k4q":             true,
		"orders-api-5d8f7c9b6d-x2k4q:1":           true,
		"node-exporter-x2k4q":                     true, // of a DaemonSet
		"backup-28394820-x7k2p":                   true, // of a CronJob
		"ip-10-0-3-17.eu-west-1.compute.internal": true,
		"gke-cluster-default-pool-1a2b3c4d-xyz9":  true,
		"aks-nodepool1-28374651-vmss000002":       true,
		"hello-00001-xyz":                         true, // of Cloud Run
		"DESKTOP-7A3KQ2P":                         true,
		"10.0.0.5:6379":                           true,
		"[2001:db8::5]:6379":                      true,
		"orderService":                            true,
		"raspberrypi.local":                       true,
		"jmiller@frankfurt-2":                     true,
		"prometheus-server-kqwsq":                 true,
		"debt-collector-2":                        true,
		"lb-18.acme.io":                           true,
		"edge-16:8080":                            true,
		"WIN-5T8VQ2H1KLM":                         true,
		"52.17.3.145:6379":                        true,
		"48.29.32.54":                             true, // too short to be a nonce

		"":                                     false,
		"07221940-03fa-41e1-98c6-ea5f0efb9a90": false,
		"4f1c2d3e4f5a":                         false, // a container, or a nonce
		"i-0abc123def4567890":                  false,
		"k3x9-ab2f-q7pz":                       false,
		"abcd-efgh-ijkl":                       false,
		"worker-7Xb3kQ9zT1mN7":                 false,
		"abcdefghijklmnop-worker-b":            false,
		"workerabcdefghijkl":                   false,
		"orders-api-0123456789-abcde":          false, // hex, and none of Kubernetes
		"orders-api-9999999999-x2k4q":          false, // more than 32 bits
		"gke-a-b-1a2b3c4d-1234":                false,
		"123456789012":                         false,
		"1234-5678-9012":                       false,
		"web-1234-5678-9012":                   false,
		"17.77.97.56.19.13":                    false,
		"3f-a2-17-09-bc-44":                    false,
		"my service41.63.11.22.96":             false, // a nonce directly behind text
		"3250-5-37519380-26766":                false, // no pod of a CronJob
		"17:62:81:86:48:e5::59":                false, // nonces with signs behind them
		"09CB:B3:55A4::a":                      false,
		"oeq.d-fraoh.payments:worker":          false,
		"243.3.58.185":                         false,
		"web-5-28519380-26766":                 false,
		"web150.49.74.59.86":                   false,
		"07@48.29.32.54/72":                    false,
		"us-east-1b@bassat:pcp":                false,
		"zr:xv:hilocalhost":                    false,
		"Workerwnfen:cvs:klidapp-01":           false,
		"boxe_l12o_4nhhbüro-1":                 false,
		"fe80::1a2b:3c4d:5e6f:7a8b":            false,
		"worker--b":                            false,
		"-worker":                              false,
		"host\n1":                              false,
		"\xff":                                 false,
		"{}":                                   false,
		strings.Repeat("host-", 60) + "1":      false,
	} {
		if got := legible.Name(text); got != want {
			t.Errorf("Name(%q) is %v", text, got)
		}
	}
}

func TestPartIsTheSurestName(t *testing.T) {
	t.Parallel()
	const uuid = "07221940-03fa-41e1-98c6-ea5f0efb9a90"
	for text, want := range map[string]string{
		"qpOQo6sePYlUYc5vCIyfegworker-7@host-a":      "worker-7@host-a", // bsm/redislock
		uuid + "@host-4":                             "host-4",
		"host-4-" + uuid:                             "host-4",
		uuid + ":0":                                  "", // BullMQ
		"web-1:4711:0a1b2c3d4e5f":                    "web-1:4711",
		`s:16:"Xb3kQ9zT1mN7pL2s";`:                   "",
		`{"token":"` + uuid + `"}`:                   "",
		`{"owner":"web-1","token":"x"}`:              "web-1",
		`{"owner":"` + uuid + `","host":"db-2"}`:     "db-2",
		`{"owner":`:                                  "",
		"Xb3kQ9zT1mN7pL2s":                           "",
		"Xb3kQ9zT/worker-b":                          "", // / is a sign of base64
		"worker-b;Xb3kQ9zT1mN7pL2s":                  "worker-b",
		"3q2+7wEjRWeJq83vASNFZw==":                   "",
		"17:Xb3kQ9zT1mN7pL2s":                        "",
		"urn:uuid:" + uuid + "@host-4":               "host-4",
		"jobs-urn:uuid:" + uuid:                      "jobs",
		"deploy@ci-runner-3:9f86d081884c7d65":        "deploy@ci-runner-3",
		"PaymentProcessor590:0457:169:gunicorn":      "PaymentProcessor590",
		"ledger-compactor--uTXXCBJ03DE-OrderService": "",
		"AS:MX1E:S5658N:Q108T:780455:FR:J4W5J0":      "",
		"zuzkbj396006SODX3789aFJc186056-billing":     "", // longer than bsm/redislock's
		"qpOQo6sePYlUYc5vCIyfegWHOPUROT:billing":     "billing",
		"":                                           "",
	} {
		if got := legible.Part(text); got != want {
			t.Errorf("Part(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestPodOfAVersionIsAName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"mail-v1-0:11", "bill-v1-1:12", "web-v12-3:42", "ship-v1-0:11", "mail-v10-0:11", "BILL-V1-1:12", "bill_v1_1:12", "purge-v4-12:8123", "cart-v2-10", "bill-v1-1",
		"billing-worker-v1-1:12", "web1-v2-0:7", "bill-v1-1:1:worker", "jobs/bill-v1-1:12", "bill-v1-1.bill.prod.svc.cluster.local:12",
	} {
		if !legible.Name(name) {
			t.Errorf("Name(%q) is false", name)
		}
	}
	for _, secret := range []string{
		"bill-v1-1:Xb3kQ9zT1mN7pL2s", "k3x9-v1-0:ab2f-q7pz", "bill-v1-1:12345678", "4f1c2d3e4f5a-v1-0", "qpzk-ab2f-v1-1:12", "bill-v1-01:1234567",
		"bill-v1-k3x9ab2f", "v1-0:17:62:81:86:48",
	} {
		if legible.Name(secret) {
			t.Errorf("Name(%q) is true", secret)
		}
	}
}

func TestWordsThatNothingMakesANameAreASecret(t *testing.T) {
	t.Parallel()
	for text, part := range map[string]string{
		"pepper-falcon-velvet": "", "pepper falcon velvet": "", "pepper.falcon.velvet": "", "pepper_falcon_velvet": "", "PepperFalconVelvet": "",
		"correct-horse-battery-staple": "", "pepperfalcon-velvet": "", "Pepper-Falcon-Velvet-42": "", "pepper-falcon-velvet:11": "",
		"blue-whale-pencil": "", "pepper-falcon-velvet-worker": "", "pepper-falcon-velvet@host-4": "host-4", "worker-b:pepper-falcon-velvet": "worker-b",
	} {
		if legible.Name(text) {
			t.Errorf("Name(%q) is true", text)
		}
		if got := legible.Part(text); got != part {
			t.Errorf("Part(%q) is %q, want %q", text, got, part)
		}
	}
	for _, name := range []string{
		"falcon-velvet", "orders-api-worker", "payments-reconciler-worker", "uat-parking-meter-blue", "my own lock", "lesson-planner.timer",
		"speech-to-text-1", "solar-inverter-tbtbl", "wedding-planner-547df9d6f6-svbfn", "falcon:velvet:4711", "staging-docs-ap-northeast-1",
	} {
		if !legible.Name(name) {
			t.Errorf("Name(%q) is false", name)
		}
	}
}

func FuzzPart(f *testing.F) {
	for _, s := range []string{"", "worker-b", "a:b@c/d e", "{", `{"owner":"x"}`, "ip-1-2-3-4", "é-é", "::", "-", "a--b", "A0A0A0"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		legible.Name(s)
		part := legible.Part(s)
		if part != "" && !strings.HasPrefix(s, "{") && !strings.Contains(s, part) {
			t.Errorf("Part(%q) is %q", s, part)
		}
		if strings.ContainsAny(part, "\n\x1b\x00") {
			t.Errorf("Part(%q) is %q", s, part)
		}
		if again := legible.Name(s + " \x00"); again {
			t.Errorf("Name(%q) holds for a control character", s)
		}
	})
}
