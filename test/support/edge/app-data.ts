import path from "node:path";
import type { AppDataCopy, AppDataFile } from "../../../domain/ports/app-data.ts";
import { EmbeddedAppData } from "../../../server/app-files/embedded-app-data.ts";
import type { TestPlatform } from "./test-platform.ts";

/** Copies and restores the data of the apps of a test platform. */
export function openAppData({ platform, dataDirectory, variables }: TestPlatform): Promise<EmbeddedAppData> {
  return EmbeddedAppData.open({ ...platform.data, workFolder: path.join(dataDirectory, "app-data-copies"), variables });
}

/** The files of a copy, as a restoration reads them. */
export async function* filesOf({ files }: AppDataCopy): AsyncGenerator<AppDataFile> {
  yield* files;
}
