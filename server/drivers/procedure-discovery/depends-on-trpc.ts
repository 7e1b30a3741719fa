import path from "node:path";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";

const MAX_BYTES = 1024 * 1024;

/** Whether the package.json of a checkout has tRPC's server among its dependencies. */
export async function dependsOnTrpcServer(sourceDirectory: string): Promise<boolean> {
  const text = await readUntrusted(path.join(sourceDirectory, "package.json"), MAX_BYTES).catch(() => null);
  const packageJson = parseJson(text ?? "");
  if (!isRecord(packageJson)) return false;
  const lists = [packageJson["dependencies"], packageJson["devDependencies"]];
  return lists.some((list) => isRecord(list) && Object.hasOwn(list, "@trpc/server"));
}
