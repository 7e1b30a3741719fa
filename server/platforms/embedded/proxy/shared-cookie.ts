/**
 * Whether a `Set-Cookie` header is for the domain of all apps or for a parent of it. Browsers would send the cookie to
 * every app, unless the Public Suffix List contains the domain.
 *
 * @param appsDomain - in lower case, without port
 */
export function isSharedCookie(setCookie: string, appsDomain: string): boolean {
  const attributes = setCookie.split(";").slice(1);
  return attributes.some((attribute) => {
    const [name = "", value = ""] = attribute.split("=", 2);
    if (name.trim().toLowerCase() !== "domain") return false;
    const domain = value
      .trim()
      .toLowerCase()
      .replace(/^\.+|(?<!\.)\.+$/g, "");
    return domain !== "" && `.${appsDomain}`.endsWith(`.${domain}`);
  });
}
