import { describe, expect, test } from "vitest";
import { APP_STATUSES, IN_PROGRESS, sourcesOf, TRANSITIONS } from "../../../domain/apps/app-status.ts";

describe("an app's status", () => {
  test("leads from queued to ready through every step, with and without a customization", () => {
    for (const path of [
      ["queued", "cloning", "building", "provisioning", "ready"],
      ["queued", "cloning", "customizing", "building", "provisioning", "ready"],
    ] as const)
      for (let step = 1; step < path.length; step++)
        expect(sourcesOf(path[step] ?? "queued")).toContain(path[step - 1]);
  });

  test("can become failed, canceled or queued again from every step of a build, and only from those", () => {
    expect(sourcesOf("failed")).toEqual([...IN_PROGRESS]);
    expect(sourcesOf("canceled")).toEqual([...IN_PROGRESS]);
    expect(sourcesOf("queued")).toEqual([...IN_PROGRESS]);
  });

  test("can become deleting from anywhere, and nothing else afterwards", () => {
    expect(sourcesOf("deleting")).toEqual([...APP_STATUSES]);
    expect(TRANSITIONS.deleting).toEqual(["deleting"]);
  });

  test("is ready only after provisioning", () => {
    expect(sourcesOf("ready")).toEqual(["provisioning"]);
  });
});
