import { expect, test } from "vitest";
import {
  appIdOfLog,
  appIdOfResource,
  artifactBucketName,
  deploymentLogKey,
  LOG_BUCKET,
  sourceBucketName,
  sqlDatabaseId,
} from "../../../domain/apps/app-resources.ts";
import { APP_STATUSES, isInProgress } from "../../../domain/apps/app-status.ts";

const ID = "0b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";

test("the app of a database, a bucket or a log is found by its name", () => {
  for (const name of [sqlDatabaseId(ID), sourceBucketName(ID), artifactBucketName(ID)])
    expect([name, appIdOfResource(name)]).toEqual([name, ID]);
  for (const key of [deploymentLogKey(ID, 12), `${ID}.log`]) expect([key, appIdOfLog(key)]).toEqual([key, ID]);
});

test("the names that are stored outside the database do not change", () => {
  expect([
    LOG_BUCKET,
    sqlDatabaseId(ID),
    sourceBucketName(ID),
    artifactBucketName(ID),
    deploymentLogKey(ID, 12),
  ]).toEqual(["build-logs", `app-${ID}`, `app-${ID}`, `artifacts-${ID}`, `${ID}/12.log`]);
});

test("a name of any other form belongs to no app", () => {
  const names = ["", "app-", ID, `app-${ID}0`, `xapp-${ID}`, `other-${ID}`, `app-${ID.toUpperCase()}`, "build-logs"];
  for (const name of names) expect([name, appIdOfResource(name)]).toEqual([name, null]);
  const keys = ["", ".log", "/1.log", ID, `${ID}.logs`, `x${ID}.log`, `${ID}0.log`, `${ID}-1.log`];
  for (const key of keys) expect([key, appIdOfLog(key)]).toEqual([key, null]);
});

test("a deployment is in progress until it is ready, failed, canceled, or its app is deleted", () => {
  const finished = APP_STATUSES.filter((status) => !isInProgress(status));
  expect(finished).toEqual(["ready", "failed", "canceled", "deleting"]);
});
