import { afterAll, beforeAll } from "vitest";
import { S3ObjectStore } from "../../server/drivers/object-store/s3.ts";
import { openTestWorkspaces, type TestWorkspaces } from "../support/agents/test-workspaces.ts";
import { startMiniflareS3 } from "../support/object-store/s3-servers.ts";
import { agentWorkspacesContract } from "./agent-workspaces.ts";

const stack = new AsyncDisposableStack();
const opened = new Map<string, TestWorkspaces>();

beforeAll(async () => {
  const s3 = stack.use(await startMiniflareS3());
  const objects = stack.use(await S3ObjectStore.open({ ...s3.settings, prefix: "workspaces/" }));
  opened.set("file system", stack.use(await openTestWorkspaces()));
  opened.set("S3", stack.use(await openTestWorkspaces({ objects })));
});
afterAll(() => stack.disposeAsync());

for (const name of ["file system", "S3"])
  agentWorkspacesContract(name, () => {
    const { workspaces, openOther, [Symbol.asyncDispose]: dispose } = opened.get(name)!;
    return { one: workspaces, other: openOther(), [Symbol.asyncDispose]: dispose };
  });
