import { ServiceError } from "@vvs/errors";
import {
  NotificationFrequency,
  NotificationKind,
  NotificationSettingsService,
} from "@vvs/proto/account/v1/notifications";
import { fakePart } from "./fake-part.ts";
import type { FakeState } from "./fake-state.ts";

/** Token of the only valid link. */
export const UNSUBSCRIBE_TOKEN = "usr_1.signature";

/** Simulates the settings of the one user. */
export function notificationSettingsPart(state: FakeState) {
  let settings = { frequency: NotificationFrequency.DAILY, kinds: [NotificationKind.EXCLUDED] };
  return fakePart(NotificationSettingsService, state, {
    quiet: {
      getNotificationSettings: async () => ({ settings }),
      async setNotificationSettings({ settings: chosen }) {
        const { frequency = NotificationFrequency.UNSPECIFIED, kinds = [] } = chosen ?? {};
        if (frequency === NotificationFrequency.UNSPECIFIED) throw new ServiceError("invalid_request");
        state.calls.push(`setNotificationSettings ${JSON.stringify({ frequency, kinds })}`);
        settings = { frequency, kinds };
        return {};
      },
      async unsubscribe({ token }) {
        if (token !== UNSUBSCRIBE_TOKEN) throw new ServiceError("not_found");
        state.calls.push("unsubscribe");
        return {};
      },
    },
  });
}
