import { expect, test } from "vitest";
import { LogMasks } from "../../../domain/deployments/log-masks.ts";

test("the masks of a log grow by the secrets that are set while the deployment runs, the longest first", async () => {
  const sets = [
    ["secret-one", "given"],
    ["secret-one", "secret-number-two"],
  ];
  const read = async () => ({ version: 1, values: {}, masks: sets.shift()! });
  const masks = new LogMasks(["given", "given-before"], { read }, "app");
  const { texts } = masks;
  await masks.refresh();
  expect(texts).toEqual(["given-before", "secret-one", "given"]);
  await masks.refresh();
  expect(texts).toEqual(["secret-number-two", "given-before", "secret-one", "given"]);
});
