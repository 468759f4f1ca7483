import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { deterministicId } from "@vvs/ids";
import { CheckType, Environment } from "@vvs/proto/common/v1/common";
import { RegistryChangedSchema } from "@vvs/proto/events/v1/events";
import { Mode } from "@vvs/proto/verification/v1/verification";
import { addDays, utcDay } from "@vvs/registration";
import { nextRun } from "../../services/monitor/src/model/next-run.ts";
import { callerIn, fastClock, RUN_TIMEOUT_MS, someMonitor } from "../../services/monitor/src/testing/domain.ts";
import { someChange, someMistake } from "./truth.ts";
import { type History, type Twins, vendorOf, type Watched } from "./twins.ts";
import type { Changed, Vendor } from "./world.ts";

const DAY_MS = 86_400_000;
const ALWAYS = new Date(0);
const MAX_MONITORS = 6;

/** Creates the same monitor in both products, with an id that depends only on the history. */
export async function addMonitor(
  { products, clock, world }: Twins,
  history: History,
  { organizationId, vendor }: { organizationId: string; vendor: Vendor },
): Promise<void> {
  const { random, identified, monitors, name } = history;
  const entityId = entityOf(vendor);
  const caller = callerIn({ organizationId, environment: "live" });
  if (!identified.has(`${organizationId} ${entityId}`)) identify(world, history, { organizationId, entityId, vendor });
  const frequency = random.pick(["hourly", "daily", "daily", "weekly"] as const);
  const _id = deterministicId("mon", ALWAYS, [name, String(monitors.length)]);
  const schedule = { environment: "live", fastClock, runTimeoutMs: RUN_TIMEOUT_MS } as const;
  for (const { monitors: domain } of products) {
    const { value } = await domain.commands.create(caller, someMonitor({ entityId, frequency }));
    const { next_run_at } = nextRun(schedule, { ...value, _id }, clock.at);
    await domain.monitors.deleteOne({ _id: value._id });
    await domain.monitors.insertOne({ ...value, _id, next_run_at });
  }
  monitors.push({ id: _id, entityId, caller, isCanceled: false });
}

/** What happens to the files and to the product. */
export async function happenToAll(twins: Twins): Promise<void> {
  const { clock, world, round, sweepers } = twins;
  const { random } = round;
  const today = utcDay(clock.at);
  const mistake = (share: number) => (random.chance(share) ? someMistake(random, clock.at) : undefined);
  if (random.chance(0.03)) world.exclusionsWait(new Date(clock.at.getTime() + (2 + random.below(4)) * DAY_MS));
  if (random.chance(0.4)) await announce(twins, world.load("exclusions", today, mistake(0.1)));
  if (random.chance(0.08)) {
    await announce(twins, world.load("registry", addDays(today, -random.below(3)), mistake(0.3)));
  }
  if (random.chance(0.04)) await announce(twins, world.withdraw(random.pick(["registry", "exclusions"])));
  if (random.chance(0.02)) round.rules = [round.rules.at(-1)!, round.rules.at(-1)! + 1];
  else if (random.chance(0.2)) round.rules = round.rules.slice(-1);
  for (const sweeper of sweepers) sweeper.rules = random.pick(round.rules);
}

/** What happens to the vendors, monitors and organizations of a history. */
export async function happen(twins: Twins, history: History): Promise<void> {
  const { clock, world, products } = twins;
  const { random, vendors, organizations, monitors } = history;
  if (random.chance(0.15)) world.change(random.pick(vendors), someChange(random, clock.at));
  const watched = random.pick(monitors.filter(({ isCanceled }) => !isCanceled));
  const { caller, id, entityId } = watched;
  const { organizationId } = caller.tenant;
  if (random.chance(0.05)) await callDirectly(twins, watched);
  if (random.chance(0.03)) {
    const frequency = random.pick(["hourly", "daily", "weekly"] as const);
    for (const { monitors: domain } of products) await domain.commands.update(caller, id, { frequency });
  }
  if (random.chance(0.03)) await suspendOrNot(twins, random.pick(organizations));
  if (random.chance(0.02)) {
    const vendor = random.chance(0.7) ? vendorOf(history, watched) : random.pick(vendors);
    identify(world, history, { organizationId, entityId, vendor });
  }
  if (random.chance(0.01) && monitors.length < MAX_MONITORS) {
    for (const { monitors: domain } of products) await domain.commands.cancel(caller, id);
    watched.isCanceled = true;
    await addMonitor(twins, history, { organizationId: random.pick(organizations), vendor: random.pick(vendors) });
  }
}

/** Gives an entity of an organization some identifiers of a vendor. */
function identify(
  world: Twins["world"],
  { identified, random }: History,
  { organizationId, entityId, vendor }: { organizationId: string; entityId: string; vendor: Vendor },
): void {
  const { uei, cage } = vendor;
  const identifiers = [
    { uei, cage },
    { uei, cage: "" },
    { uei: "", cage },
  ];
  world.put(organizationId, entityId, random.pick(identifiers));
  identified.set(`${organizationId} ${entityId}`, vendor);
}

/** Announces to the product what a load or withdrawal changed: mostly, and sometimes twice. */
async function announce({ product, second, clock, round }: Twins, loaded: Changed | undefined): Promise<void> {
  const { random } = round;
  if (!loaded || loaded.vendors.length === 0 || random.chance(0.25)) return;
  const { loadId } = loaded;
  const entityIds = loaded.vendors.map(entityOf);
  const record = create(RegistryChangedSchema, {
    ...{ recordId: `${loadId}:${clock.at.getTime()}`, loadId, entityIds, changedAt: timestampFromDate(clock.at) },
    urgentEntityIds: entityIds.filter(() => random.chance(0.5)),
  });
  await product.monitors.records.registryChanged(record);
  if (random.chance(0.2)) await second.records.registryChanged(record);
}

async function callDirectly({ products }: Twins, { caller, entityId }: Watched): Promise<void> {
  const { organizationId } = caller.tenant;
  for (const { verification } of products) {
    await verification.client.verify({
      caller: { tenant: { organizationId, environment: Environment.LIVE }, actor: caller.actor },
      target: { case: "entityId", value: entityId },
      checks: [CheckType.SAM_REGISTRATION],
      mode: Mode.REALTIME,
    });
  }
}

async function suspendOrNot({ products, second, twin }: Twins, organizationId: string): Promise<void> {
  const isSuspended = twin.monitors.suspended.has(organizationId);
  for (const { suspended } of [...products.map(({ monitors }) => monitors), second]) {
    if (isSuspended) suspended.delete(organizationId);
    else suspended.add(organizationId);
  }
  if (isSuspended) for (const { monitors } of products) await monitors.resumeExtras([...monitors.suspended]);
}

const entityOf = ({ uei }: Vendor) => deterministicId("ent", ALWAYS, [uei]);
