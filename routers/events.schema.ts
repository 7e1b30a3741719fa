import { z } from "zod";
import { APP_STATUSES } from "../domain/apps/app-status.ts";
import type { AppState } from "../domain/events/list-app-states.ts";
import { timestampWithExample as timestamp } from "./core/common.schema.ts";

export const eventsRequest = z.strictObject({});

const appState = z
  .object({ id: z.uuid(), status: z.enum([...APP_STATUSES, "deleted"]), updated_at: timestamp })
  .meta({ id: "AppState" }) satisfies z.ZodType<AppState>;

export const eventsResponse = z.object({ apps: z.array(appState) }).meta({ id: "EventsResponse" }) satisfies z.ZodType<{
  apps: AppState[];
}>;
