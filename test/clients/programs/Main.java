import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import vvs.*;
import vvs.api.*;
import vvs.model.*;

/** The calls with the Java client of openapi-generator. */
public class Main {
  interface Call {
    Object run() throws ApiException;
  }

  static ApiClient clientAt(String url) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(builder -> builder.header("Authorization", "Bearer " + System.getenv("API_KEY")));
    return client;
  }

  static String codeOf(ApiClient client, Call call) throws Exception {
    try {
      call.run();
    } catch (ApiException error) {
      return client.getObjectMapper().readValue(error.getResponseBody(), vvs.model.Error.class).getError();
    }
    throw new AssertionError("no error");
  }

  public static void main(String[] args) throws Exception {
    ApiClient client = clientAt(System.getenv("BASE_URL"));
    LookUpApi lookUp = new LookUpApi(client);
    CreateApi create = new CreateApi(client);
    VerifyApi verify = new VerifyApi(client);
    MonitorApi monitors = new MonitorApi(client);
    VerifyManyApi jobs = new VerifyManyApi(client);
    List<Identifier> uei = List.of(new Identifier().type(Identifier.TypeEnum.UEI).value("SANDBXACTVE1"));
    List<CheckType> checks = List.of(CheckType.SAM_REGISTRATION);

    LookupResult vendor = lookUp.lookupEntity(new LookupRequest().identifiers(uei), null);
    LookupResult fuzzy =
        lookUp.lookupEntity(new LookupRequest().legalName("Sandbox Activ Vendor").mode(LookupRequest.ModeEnum.FUZZY), null);
    Entity read = lookUp.getEntity(vendor.getId());
    Entity created = create.createEntity(new CreateEntityRequest().legalName(System.getenv("NEW_NAME")), System.getenv("IDEMPOTENCY_KEY"));
    EntityPage page = create.listEntities(null, 1, null);
    Verification verified =
        verify.verify(new VerifyRequest().identifiers(uei).checks(checks).mode(VerifyRequest.ModeEnum.CACHED), null);
    Verification again = verify.getVerification(verified.getId());
    String uri = verified.getResults().get(0).getEvidenceUri().toString();
    Evidence evidence = verify.getEvidence(uri.substring(uri.lastIndexOf('/') + 1));
    Monitor monitor =
        monitors.createMonitor(
            new CreateMonitorRequest().entityId(vendor.getId()).checks(checks).webhookUrl(System.getenv("WEBHOOK_URL")), null);
    EventPage events = monitors.listEvents(null, null, "start", null);
    List<JobVendor> vendors =
        Stream.of("SANDBXACTVE1", "SANDBXEXPRD1")
            .map(each -> new JobVendor().externalId(each).identifiers(List.of(new Identifier().type(Identifier.TypeEnum.UEI).value(each))))
            .toList();
    Job job =
        jobs.createJob(new CreateJobRequest().checks(checks).mode(CreateJobRequest.ModeEnum.REALTIME).vendors(vendors), null);
    while (job.getCompletedAt() == null) {
      Thread.sleep(100);
      job = jobs.getJob(job.getId());
    }
    List<JobResult> results = jobs.listJobResults(job.getId(), null, null, null).getResults();
    String missing = codeOf(client, () -> lookUp.getEntity("ent_00000000000000000000000000"));

    ObjectMapper mapper = client.getObjectMapper();
    MonitorChangeDetected webhook = mapper.readValue(System.getenv("WEBHOOK"), MonitorChangeDetected.class);
    ApiClient tomorrow = clientAt(System.getenv("TOMORROW_URL"));
    Entity later = new LookUpApi(tomorrow).getEntity(vendor.getId());
    String unknown =
        codeOf(tomorrow, () -> new CreateApi(tomorrow).createEntity(new CreateEntityRequest().legalName("A"), null));

    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("vendor", vendor.getLegalName());
    answer.put("fuzzy", fuzzy.getId() != null || fuzzy.getCandidates() != null);
    answer.put("read", read.getId().equals(vendor.getId()));
    answer.put("created", created.getLegalName());
    answer.put("listed", page.getEntities().get(0).getId().equals(created.getId()));
    answer.put("verified", verified.getOverallResult());
    answer.put("again", again.getId().equals(verified.getId()));
    answer.put("evidence", evidence.getCheckType());
    answer.put("monitor", monitor.getStatus());
    answer.put("events", events.getNextCursor() != null);
    answer.put("job", results.stream().map(each -> List.of(each.getExternalId(), each.getDecision())).toList());
    answer.put("missing", missing);
    answer.put("webhook", webhook.getChanges().get(0).getCurrent());
    answer.put("status", later.getSamGov().getRegistrationStatus());
    answer.put("unknown", unknown);
    System.out.println(new ObjectMapper().writeValueAsString(answer));
  }
}
