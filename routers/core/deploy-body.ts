/** Room for the files and the variables of an app, even if JSON escapes each of their characters. In bytes. */
export const DEPLOY_BODY_BYTES = 8 * 1024 * 1024;
