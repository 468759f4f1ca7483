import {
  type Notification as NotificationMessage,
  NotificationService,
  NotificationSettingsService,
  NotificationFrequency as ProtoFrequency,
  NotificationKind as ProtoKind,
  type NotificationSettings as SettingsMessage,
} from "@vvs/proto/account/v1/notifications";
import { onlyFor, type ServicePart, servicePart } from "@vvs/rpc";
import type { KeysDomain, PeopleDomain } from "../domain.ts";
import {
  type Notification,
  type NotificationChoice,
  type NotificationFrequency,
  type NotificationKind,
  notificationKinds,
} from "../model/notifications.ts";
import { endpointFailure, registrationEnd, vendorChange } from "../notifications/reported.ts";
import { invalid } from "../refusals.ts";

const MAX_NOTIFICATIONS = 100;

const protoKinds: Readonly<Record<NotificationKind, ProtoKind>> = {
  excluded: ProtoKind.EXCLUDED,
  failed: ProtoKind.FAILED,
  changed: ProtoKind.CHANGED,
  expiring: ProtoKind.EXPIRING,
  deliveries: ProtoKind.DELIVERIES,
  keys: ProtoKind.KEYS,
};

const protoFrequencies: Readonly<Record<NotificationFrequency, ProtoFrequency>> = {
  off: ProtoFrequency.OFF,
  now: ProtoFrequency.NOW,
  daily: ProtoFrequency.DAILY,
};

/** NotificationService, for services that report what happened. */
export function createNotificationPart({ domain }: { domain: KeysDomain }): ServicePart {
  return servicePart({
    service: NotificationService,
    callers: { reportNotifications: ["monitor", "webhook-dispatcher"] },
    handlers: {
      async reportNotifications({ organizationId, notifications }) {
        if (!organizationId) throw invalid("organization_id", "is required");
        if (notifications.length === 0 || notifications.length > MAX_NOTIFICATIONS) {
          throw invalid("notifications", `must be 1 to ${MAX_NOTIFICATIONS}`);
        }
        await domain.gatherNotifications(organizationId, notifications.map(notificationOf));
        return {};
      },
    },
  });
}

/** NotificationSettingsService, for members and for readers of the emails. */
export function createNotificationSettingsPart({ domain }: { domain: PeopleDomain }): ServicePart {
  const { notificationSettings: settings, callersBySession: callers } = domain;
  return servicePart({
    service: NotificationSettingsService,
    callers: onlyFor(NotificationSettingsService, "dashboard"),
    handlers: {
      async getNotificationSettings(request) {
        const { frequency, kinds } = await settings.get(await callers.signedIn(request));
        return { settings: { frequency: protoFrequencies[frequency], kinds: kinds.map((kind) => protoKinds[kind]) } };
      },

      async setNotificationSettings(request) {
        await settings.set(await callers.signedIn(request), choiceOf(request.settings));
        return {};
      },

      async unsubscribe({ token }) {
        await settings.unsubscribe(token);
        return {};
      },
    },
  });
}

function choiceOf(message: SettingsMessage | undefined): NotificationChoice {
  const frequencies = Object.keys(protoFrequencies) as NotificationFrequency[];
  const frequency = frequencies.find((each) => protoFrequencies[each] === message?.frequency);
  if (!frequency) throw invalid("frequency", "must be one of off, now or daily");
  return { frequency, kinds: notificationKinds.filter((kind) => message?.kinds.includes(protoKinds[kind])) };
}

function notificationOf({ id, about }: NotificationMessage): Notification {
  if (id && about.case === "vendorChanged") return { id, ...vendorChange(about.value) };
  if (id && about.case === "registrationExpires") return { id, ...registrationEnd(about.value) };
  if (id && about.case === "endpointFails") return { id, ...endpointFailure(about.value) };
  throw invalid("notifications", "must have an id and say what happened");
}
