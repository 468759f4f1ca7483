package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
)

type page struct {
	Error      string            `json:"error"`
	Message    string            `json:"message"`
	Events     []json.RawMessage `json:"events"`
	NextCursor string            `json:"next_cursor"`
}

func readEvents(after string) (answer page, err error) {
	address := os.Getenv("VENDOR_VERIFICATION_BASE_URL") + "/v1/events?wait=20&limit=100&after=" + url.QueryEscape(after)
	request, err := http.NewRequest("GET", address, nil)
	if err != nil {
		return answer, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("VENDOR_VERIFICATION_API_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer, err
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&answer)
	if err == nil && answer.Error != "" && answer.Error != "cursor_expired" {
		err = fmt.Errorf("%s: %s", answer.Error, answer.Message)
	}
	return answer, err
}

func idOf(event []byte) string {
	var fields struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(event, &fields); err != nil {
		log.Fatal(err)
	}
	return fields.ID
}

func main() {
	known := map[string]bool{}
	stored, _ := os.ReadFile("events.jsonl")
	for _, line := range bytes.Split(bytes.TrimSpace(stored), []byte("\n")) {
		if len(line) > 0 {
			known[idOf(line)] = true
		}
	}
	cursor := "start"
	if text, err := os.ReadFile("cursor"); err == nil {
		cursor = string(text)
	}
	file, err := os.OpenFile("events.jsonl", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	for {
		answer, err := readEvents(cursor)
		if err != nil {
			log.Fatal(err)
		}
		if answer.Error == "cursor_expired" {
			log.Println("Events were deleted before they were read. Going on with the oldest one.")
			cursor = "start"
			continue
		}
		for _, event := range answer.Events {
			if id := idOf(event); !known[id] {
				if _, err := file.Write(append(event, '\n')); err != nil {
					log.Fatal(err)
				}
				known[id] = true
			}
		}
		cursor = answer.NextCursor
		if err := os.WriteFile("cursor", []byte(cursor), 0o600); err != nil {
			log.Fatal(err)
		}
	}
}
