import type { SandboxCommand } from "../../ports/sandbox.ts";
import { writableFolders } from "../file-ownership.ts";
import { sizeInMemoryMb } from "../memory-volume.ts";
import type { GroupLimits } from "./group-settings.ts";

/** More than a command can write before its disk usage is measured. */
const MAX_DISK_USAGE_FACTOR = 2;

/** The limits of the control group of a command. The files that it writes count as memory if they are in memory. */
export async function groupLimits(command: SandboxCommand): Promise<GroupLimits> {
  const { memoryMb, processes, diskMb } = command.limits;
  const sizes = await Promise.all(writableFolders(command).map(sizeInMemoryMb));
  // Several folders are usually in one file system.
  const filesMb = Math.min(Math.max(0, ...sizes), (diskMb ?? 0) * MAX_DISK_USAGE_FACTOR);
  return { memoryMb, processes, filesMb };
}
