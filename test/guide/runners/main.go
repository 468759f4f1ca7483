package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"example.com/guide/receiver"
)

type signedCase struct {
	Scheme, Body, Secret string
	Headers              map[string]string
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var cases []signedCase
	if err := json.Unmarshal(text, &cases); err != nil {
		panic(err)
	}
	answers := []bool{}
	for _, signed := range cases {
		headers := http.Header{}
		for name, value := range signed.Headers {
			headers.Set(name, value)
		}
		verify := receiver.VerifyService
		if signed.Scheme == "standard" {
			verify = receiver.Verify
		}
		answers = append(answers, verify([]byte(signed.Body), headers, signed.Secret) == nil)
	}
	written, _ := json.Marshal(answers)
	fmt.Println(string(written))
}
