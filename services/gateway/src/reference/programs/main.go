package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path"
	"strings"
)

// call returns the body of the answer, or what went wrong.
func call(method, path, body string) ([]byte, error) {
	request, err := http.NewRequest(method, os.Getenv("VENDOR_VERIFICATION_BASE_URL")+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("VENDOR_VERIFICATION_API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= 400 {
		err = fmt.Errorf("%s: %s", response.Status, answer)
	}
	return answer, err
}

// create makes an object and returns its id. It ends the program if that fails.
func create(path, body string) string {
	answer, err := call("POST", path, body)
	if err != nil {
		log.Fatal(err)
	}
	var object struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer, &object); err != nil {
		log.Fatal(err)
	}
	return object.ID
}

func main() {
	answer, err := call("POST", "/v1/verify", `{
  "identifiers": {"uei": "SANDBXACTVE1"},
  "checks": ["sam_registration"],
  "mode": "realtime"
}`)
	if err != nil {
		log.Fatal(err)
	}
	var verification struct {
		ID       string `json:"id"`
		EntityID string `json:"entity_id"`
		Overall  string `json:"overall_result"`
		Results  []struct {
			EvidenceURI string `json:"evidence_uri"`
		} `json:"results"`
	}
	if err := json.Unmarshal(answer, &verification); err != nil {
		log.Fatal(err)
	}
	entityID, verificationID := verification.EntityID, verification.ID
	evidenceID := path.Base(verification.Results[0].EvidenceURI)
	fmt.Println(verification.Overall, entityID, verificationID, evidenceID)

	monitorID := create("/v1/monitors", `{"entity_id": "`+entityID+`", "checks": ["sam_registration"]}`)
	jobID := create("/v1/jobs", `{
  "checks": ["sam_registration"],
  "mode": "realtime",
  "vendors": [{"identifiers": {"uei": "SANDBXERRR01"}}]
}`)
	fmt.Println(monitorID, jobID)
}
