import { ServiceError } from "../shared/errors.ts";

/** Whether the operator allows builds to use the network. */
export type BuildEgress = "none" | "public";

/** @throws {ServiceError} `invalid` for a build with a network that the operator does not allow */
export function checkBuildNetwork(buildNetwork: boolean | undefined, egress: BuildEgress): void {
  if (buildNetwork !== true || egress === "public") return;
  throw new ServiceError(
    "invalid",
    "build_network: this service does not allow builds to use the network. Omit it or send false, or ask the operator to set BUILD_EGRESS=public.",
  );
}
