/** What one program may ask of the service in one run. Sizes are in bytes of JSON. */
export const MAX_CALLS = 1000;
export const MAX_CONCURRENT_CALLS = 16;
export const MAX_NAME_LENGTH = 512;
export const MAX_CALL_BYTES = 1024 * 1024;
export const MAX_ANSWER_BYTES = 1024 * 1024;
export const MAX_BYTES_OF_ALL_CALLS = 32 * 1024 * 1024;
