import type { PlanLimits } from "../plans/plans.ts";
import type { StorageRestriction } from "../ports/app-storage.ts";

/**
 * An app beyond its bound serves requests with its token, so that its owner can delete data. The owner could also add
 * data, so an app beyond this multiple of its bound serves no requests.
 */
export const OWNER_FACTOR = 2;

export interface StorageState {
  /** For the clients of the app; `null` when the app is within its bound. */
  restriction: StorageRestriction | null;
  /** For the owner of the app; `null` when the app is within its bound. */
  problem: string | null;
}

/**
 * Decides what an app that stores `totalBytes` serves. The texts do not contain the size, which changes with each
 * measurement.
 *
 * @param planName - the name of the plan of its organization
 */
export function judgeStorage(
  totalBytes: number,
  { storageBytes }: Pick<PlanLimits, "storageBytes">,
  planName: string,
): StorageState {
  if (totalBytes <= storageBytes) return { restriction: null, problem: null };
  const bound = `the ${formatMebibytes(storageBytes)} that the plan "${planName}" allows for an app`;
  if (totalBytes > storageBytes * OWNER_FACTOR)
    return {
      restriction: {
        servesOwner: false,
        message: "This app is stopped because it stores more than twice the data that its plan allows.",
      },
      problem: `The app is stopped because it stores more than twice ${bound}. Move to a larger plan, or delete the app.`,
    };
  return {
    restriction: {
      servesOwner: true,
      message: "This app is stopped because it stores more data than its plan allows. Its owner can delete data.",
    },
    problem: `The app is stopped because it stores more than ${bound}. Only requests with the app token are served. Delete data with them, or move to a larger plan; the app serves again within a minute.`,
  };
}

function formatMebibytes(bytes: number): string {
  return `${Math.floor(bytes / (1024 * 1024)).toLocaleString("en-US")} MiB`;
}
