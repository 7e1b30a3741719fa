import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { storeFiles, type UploadArchiveDeps } from "./upload-archive.ts";

/** What a request can deploy instead of a repository: an uploaded archive, or texts by their paths. */
export interface GivenArchive {
  archive?: string | undefined;
  files?: Readonly<Record<string, string>> | undefined;
}

/** What a request says about a repository. */
interface GivenRepository {
  repo?: string | undefined;
  host?: string | undefined;
  branch?: string | undefined;
  commit?: string | undefined;
}

/**
 * Checks that a request names at most one source, and nothing that only another source has.
 *
 * @throws {ServiceError} `invalid`
 */
export function checkSource(request: GivenArchive & GivenRepository): void {
  const { repo, archive, files } = request;
  const sources = [repo, archive, files].filter((source) => source !== undefined).length;
  if (sources > 1) throw new ServiceError("invalid", "Send only one of repo, archive and files.");
  if (archive !== undefined || files !== undefined) checkHasNoRepository(request);
}

/** @throws {ServiceError} `invalid` for a field that only repositories have */
export function checkHasNoRepository(request: Omit<GivenRepository, "repo">): void {
  const field = (["host", "branch", "commit"] as const).find((name) => request[name] !== undefined);
  if (field === undefined) return;
  throw new ServiceError("invalid", `${field}: is of a repository. An app that is deployed from an archive has none.`);
}

/**
 * Returns the id of the archive that a request deploys, and stores the texts that it contains; `null` if it names neither.
 *
 * @throws {ServiceError} as `storeFiles` does
 */
export async function chooseArchive(
  deps: UploadArchiveDeps,
  caller: Caller,
  { archive, files }: GivenArchive,
): Promise<string | null> {
  return files === undefined ? (archive ?? null) : (await storeFiles(deps, caller, files)).id;
}
