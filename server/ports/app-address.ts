/** Where an app listens for HTTP: options for `http.request`. */
export type AppAddress = { host: string; port: number } | { socketPath: string };
