// The calls with the Go client of oapi-codegen.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"clients/vvs"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func clientAt(url string) *vvs.ClientWithResponses {
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	client, err := vvs.NewClientWithResponses(url, vvs.WithRequestEditorFn(withKey))
	check(err)
	return client
}

func pointer[T any](value T) *T { return &value }

func main() {
	ctx := context.Background()
	api := clientAt(os.Getenv("BASE_URL"))
	uei := []vvs.Identifier{{Type: "uei", Value: "SANDBXACTVE1"}}
	checks := []vvs.CheckType{"sam_registration"}

	exact, err := api.LookupEntityWithResponse(ctx, nil, vvs.LookupRequest{Identifiers: &uei})
	check(err)
	vendor := exact.JSON200
	fuzzy, err := api.LookupEntityWithResponse(ctx, nil, vvs.LookupRequest{LegalName: pointer("Sandbox Activ Vendor"), Mode: pointer(vvs.LookupRequestMode("fuzzy"))})
	check(err)
	read, err := api.GetEntityWithResponse(ctx, *vendor.Id)
	check(err)
	created, err := api.CreateEntityWithResponse(ctx, &vvs.CreateEntityParams{IdempotencyKey: pointer(os.Getenv("IDEMPOTENCY_KEY"))}, vvs.CreateEntityRequest{LegalName: os.Getenv("NEW_NAME")})
	check(err)
	page, err := api.ListEntitiesWithResponse(ctx, &vvs.ListEntitiesParams{Limit: pointer(1)})
	check(err)
	verified, err := api.VerifyWithResponse(ctx, nil, vvs.VerifyRequest{Identifiers: &uei, Checks: checks, Mode: "cached"})
	check(err)
	again, err := api.GetVerificationWithResponse(ctx, verified.JSON200.Id)
	check(err)
	uri := verified.JSON200.Results[0].EvidenceUri
	evidence, err := api.GetEvidenceWithResponse(ctx, uri[strings.LastIndex(uri, "/")+1:])
	check(err)
	monitor, err := api.CreateMonitorWithResponse(ctx, nil, vvs.CreateMonitorRequest{EntityId: *vendor.Id, Checks: checks, WebhookUrl: pointer(os.Getenv("WEBHOOK_URL"))})
	check(err)
	events, err := api.ListEventsWithResponse(ctx, &vvs.ListEventsParams{After: pointer("start")})
	check(err)
	vendors := []vvs.JobVendor{}
	for _, each := range []string{"SANDBXACTVE1", "SANDBXEXPRD1"} {
		vendors = append(vendors, vvs.JobVendor{ExternalId: pointer(each), Identifiers: &[]vvs.Identifier{{Type: "uei", Value: each}}})
	}
	started, err := api.CreateJobWithResponse(ctx, nil, vvs.CreateJobRequest{Checks: checks, Mode: "realtime", Vendors: vendors})
	check(err)
	job := started.JSON202
	for job.CompletedAt == nil {
		time.Sleep(100 * time.Millisecond)
		looked, err := api.GetJobWithResponse(ctx, job.Id)
		check(err)
		job = looked.JSON200
	}
	results, err := api.ListJobResultsWithResponse(ctx, job.Id, nil)
	check(err)
	decisions := [][]string{}
	for _, result := range results.JSON200.Results {
		decisions = append(decisions, []string{*result.ExternalId, string(result.Decision)})
	}
	receipt, err := api.GetJobReceiptWithResponse(ctx, job.Id)
	check(err)
	missing, err := api.GetEntityWithResponse(ctx, "ent_00000000000000000000000000")
	check(err)

	var webhook vvs.MonitorChangeDetected
	check(json.Unmarshal([]byte(os.Getenv("WEBHOOK")), &webhook))
	tomorrow := clientAt(os.Getenv("TOMORROW_URL"))
	later, err := tomorrow.GetEntityWithResponse(ctx, *vendor.Id)
	check(err)
	unknown, err := tomorrow.CreateEntityWithResponse(ctx, nil, vvs.CreateEntityRequest{LegalName: "A"})
	check(err)

	answer, _ := json.Marshal(map[string]any{
		"vendor": *vendor.LegalName, "fuzzy": fuzzy.JSON200.Id != nil || fuzzy.JSON200.Candidates != nil, "read": read.JSON200.Id == *vendor.Id,
		"created": created.JSON201.LegalName, "listed": page.JSON200.Entities[0].Id == created.JSON201.Id,
		"verified": verified.JSON200.OverallResult, "again": again.JSON200.Id == verified.JSON200.Id,
		"evidence": evidence.JSON200.CheckType, "monitor": monitor.JSON201.Status, "events": events.JSON200.NextCursor != nil,
		"missing": missing.JSON404.Error, "webhook": webhook.Changes[0].Current, "status": later.JSON200.SamGov.RegistrationStatus,
		"job": decisions, "receipt": len(strings.Split(string(receipt.Body), ".")), "unknown": unknown.JSON409.Error,
	})
	fmt.Println(string(answer))
}
