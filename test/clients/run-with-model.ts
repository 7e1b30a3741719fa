import { temporaryFolder } from "../support/temporary-folder.ts";
import { ClientRun, type ClientRunOptions } from "./client-run.ts";
import { openScriptedModel, type ScriptedModel } from "./scripted-model.ts";

/** Runs a client with a scripted model and a home folder of its own. */
export async function runWithModel<T>(
  options: Omit<ClientRunOptions<ScriptedModel>, "folder" | "model">,
  connect: (run: ClientRun) => Promise<T>,
): Promise<T> {
  await using model = await openScriptedModel();
  await using home = await temporaryFolder();
  await using run = await ClientRun.create({ ...options, folder: home.path, model });
  return await connect(run);
}
