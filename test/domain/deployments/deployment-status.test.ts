import { expect, test } from "vitest";
import { APP_STATUSES, IN_PROGRESS } from "../../../domain/apps/app-status.ts";
import {
  DEPLOYMENT_STATUSES,
  type DeploymentStatus,
  statusesBefore,
  TRANSITIONS,
} from "../../../domain/deployments/deployment-status.ts";

test("a deployment gets from queued to ready through every step, with and without a customization, and by a rollback", () => {
  const paths: DeploymentStatus[][] = [
    ["queued", "cloning", "building", "provisioning", "ready"],
    ["queued", "cloning", "customizing", "building", "provisioning", "ready"],
    ["queued", "provisioning", "ready"],
  ];
  for (const path of paths)
    for (let step = 1; step < path.length; step++)
      expect(statusesBefore(path[step] ?? "queued")).toContain(path[step - 1]);
});

test("a deployment can fail, be canceled or return to the queue in every step, and only there", () => {
  expect(statusesBefore("failed")).toEqual([...IN_PROGRESS]);
  expect(statusesBefore("canceled")).toEqual([...IN_PROGRESS]);
  expect(statusesBefore("queued")).toEqual([...IN_PROGRESS]);
});

test("a deployment is ready only after provisioning", () => {
  expect(statusesBefore("ready")).toEqual(["provisioning"]);
});

test("only a live or a waiting deployment can be superseded", () => {
  expect(statusesBefore("superseded")).toEqual(["queued", "ready"]);
});

test("a failed, canceled or superseded deployment keeps its status", () => {
  for (const status of ["failed", "canceled", "superseded"] as const) expect(TRANSITIONS[status]).toEqual([]);
});

test("an app shows every status of a deployment except superseded, and deleting", () => {
  const shown = DEPLOYMENT_STATUSES.filter((status) => status !== "superseded");
  expect([...APP_STATUSES]).toEqual([...shown, "deleting"]);
});
