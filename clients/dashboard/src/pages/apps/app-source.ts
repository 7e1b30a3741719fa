/** Where the source of an app comes from that has no repository. */
export const UPLOADED = "Uploaded files";
