/** The name under which the clients know the service. */
export const SERVER = "service";
