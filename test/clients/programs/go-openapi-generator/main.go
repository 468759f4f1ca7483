// The calls with the Go client of openapi-generator.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"clients/vvs"
)

func check(err error) {
	if err != nil {
		var answered *vvs.GenericOpenAPIError
		if errors.As(err, &answered) {
			fmt.Fprintln(os.Stderr, string(answered.Body()))
		}
		panic(err)
	}
}

func clientAt(url string) *vvs.APIClient {
	configuration := vvs.NewConfiguration()
	configuration.Servers = vvs.ServerConfigurations{{URL: url}}
	return vvs.NewAPIClient(configuration)
}

func codeOf(err error) string {
	var answered *vvs.GenericOpenAPIError
	if !errors.As(err, &answered) {
		panic(err)
	}
	body, isError := answered.Model().(vvs.Error)
	if !isError {
		panic(fmt.Sprintf("%T", answered.Model()))
	}
	return body.Error
}

func main() {
	ctx := context.WithValue(context.Background(), vvs.ContextAccessToken, os.Getenv("API_KEY"))
	api := clientAt(os.Getenv("BASE_URL"))
	uei := []vvs.Identifier{{Type: "uei", Value: "SANDBXACTVE1"}}
	checks := []vvs.CheckType{vvs.CheckType("sam_registration")}

	vendor, _, err := api.LookUpAPI.LookupEntity(ctx).LookupRequest(vvs.LookupRequest{Identifiers: uei}).Execute()
	check(err)
	fuzzy, _, err := api.LookUpAPI.LookupEntity(ctx).LookupRequest(vvs.LookupRequest{LegalName: vvs.PtrString("Sandbox Activ Vendor"), Mode: vvs.PtrString("fuzzy")}).Execute()
	check(err)
	read, _, err := api.LookUpAPI.GetEntity(ctx, *vendor.Id).Execute()
	check(err)
	created, _, err := api.CreateAPI.CreateEntity(ctx).IdempotencyKey(os.Getenv("IDEMPOTENCY_KEY")).CreateEntityRequest(vvs.CreateEntityRequest{LegalName: os.Getenv("NEW_NAME")}).Execute()
	check(err)
	page, _, err := api.CreateAPI.ListEntities(ctx).Limit(1).Execute()
	check(err)
	verified, _, err := api.VerifyAPI.Verify(ctx).VerifyRequest(vvs.VerifyRequest{Identifiers: uei, Checks: checks, Mode: "cached"}).Execute()
	check(err)
	again, _, err := api.VerifyAPI.GetVerification(ctx, verified.Id).Execute()
	check(err)
	uri := verified.Results[0].EvidenceUri
	evidence, _, err := api.VerifyAPI.GetEvidence(ctx, uri[strings.LastIndex(uri, "/")+1:]).Execute()
	check(err)
	monitor, _, err := api.MonitorAPI.CreateMonitor(ctx).CreateMonitorRequest(vvs.CreateMonitorRequest{EntityId: *vendor.Id, Checks: checks, WebhookUrl: vvs.PtrString(os.Getenv("WEBHOOK_URL"))}).Execute()
	check(err)
	events, _, err := api.MonitorAPI.ListEvents(ctx).After("start").Execute()
	check(err)
	vendors := []vvs.JobVendor{}
	for _, each := range []string{"SANDBXACTVE1", "SANDBXEXPRD1"} {
		vendors = append(vendors, vvs.JobVendor{ExternalId: vvs.PtrString(each), Identifiers: []vvs.Identifier{{Type: "uei", Value: each}}})
	}
	job, _, err := api.VerifyManyAPI.CreateJob(ctx).CreateJobRequest(vvs.CreateJobRequest{Checks: checks, Mode: "realtime", Vendors: vendors}).Execute()
	check(err)
	for job.CompletedAt == nil {
		time.Sleep(100 * time.Millisecond)
		job, _, err = api.VerifyManyAPI.GetJob(ctx, job.Id).Execute()
		check(err)
	}
	results, _, err := api.VerifyManyAPI.ListJobResults(ctx, job.Id).Execute()
	check(err)
	decisions := [][]string{}
	for _, result := range results.Results {
		decisions = append(decisions, []string{*result.ExternalId, string(result.Decision)})
	}
	receipt, _, err := api.VerifyManyAPI.GetJobReceipt(ctx, job.Id).Execute()
	check(err)
	_, _, missing := api.LookUpAPI.GetEntity(ctx, "ent_00000000000000000000000000").Execute()

	var webhook vvs.MonitorChangeDetected
	check(json.Unmarshal([]byte(os.Getenv("WEBHOOK")), &webhook))
	tomorrow := clientAt(os.Getenv("TOMORROW_URL"))
	later, _, err := tomorrow.LookUpAPI.GetEntity(ctx, *vendor.Id).Execute()
	check(err)
	_, _, unknown := tomorrow.CreateAPI.CreateEntity(ctx).CreateEntityRequest(vvs.CreateEntityRequest{LegalName: "A"}).Execute()

	answer, _ := json.Marshal(map[string]any{
		"vendor": *vendor.LegalName, "fuzzy": fuzzy.Id != nil || len(fuzzy.Candidates) > 0, "read": read.Id == *vendor.Id,
		"created": created.LegalName, "listed": page.Entities[0].Id == created.Id, "verified": verified.OverallResult,
		"again": again.Id == verified.Id, "evidence": evidence.CheckType, "monitor": monitor.Status, "events": events.NextCursor.IsSet(),
		"missing": codeOf(missing), "webhook": webhook.Changes[0].GetCurrent(), "status": later.SamGov.RegistrationStatus,
		"job": decisions, "receipt": len(strings.Split(receipt, ".")), "unknown": codeOf(unknown),
	})
	fmt.Println(string(answer))
}
