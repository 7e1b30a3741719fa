/** The variable with the URL of a private registry, which settings of the project name and the mirror serves. */
export const REPLACED_REGISTRY = "BUILD_PRIVATE_REGISTRY";
