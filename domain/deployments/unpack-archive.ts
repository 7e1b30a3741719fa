import { ARCHIVE_BUCKET } from "../archives/archive-objects.ts";
import { BuildFailure } from "../shared/errors.ts";
import { type Attempt, startStatus, type StepDeps } from "./deployment-attempt.ts";

/**
 * Unpacks the archive of a deployment.
 *
 * @returns what is left out, as sentences for the app's owner
 * @throws {BuildFailure} `user` for an archive that cannot be unpacked
 */
export async function unpackArchive(deps: StepDeps, attempt: Attempt, archiveId: string): Promise<readonly string[]> {
  const { deployment, workspace, log, signal } = attempt;
  await startStatus(deps, attempt, "cloning", { statusMessage: "Unpacking the archive.", error: null });
  log.say(`unpacking archive ${archiveId}`);
  const stored = await deps.db
    .selectFrom("archives")
    .select("object_key")
    .where("org_id", "=", deployment.orgId)
    .where("id", "=", archiveId)
    .executeTakeFirst();
  // It is kept for deployments in progress, so only an operator can have removed it.
  if (stored === undefined) throw archiveMissing();
  const warnings = await deps.archiveSource.unpack({
    archive: deps.objects.read(ARCHIVE_BUCKET, stored.object_key),
    directory: workspace.sourceDirectory,
    onOutput: log.output,
    signal,
  });
  for (const warning of warnings) log.say(`warning: ${warning}`);
  return warnings;
}

function archiveMissing(): BuildFailure {
  return new BuildFailure("user", "The archive does not exist any more.", "Upload the folder again, and deploy it.");
}
