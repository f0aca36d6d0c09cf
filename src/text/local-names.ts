// Tells names of a local network from public ones. An authority for local names cannot vouch for a site on
// the internet.

/** Loaded at first use, because it would delay the start. */
let topLevel: ReadonlySet<string> | undefined

/**
 * The domains that routers and mDNS append to a machine's name. No name below them can be registered in the
 * public DNS.
 */
export const LOCAL_DOMAINS: readonly string[] = ['local', 'lan', 'internal', 'home.arpa']

/**
 * Whether a name is a top-level domain of the public DNS, such as `box` and `dev`. A machine may have such a
 * name too, but an authority for it could vouch for every site below it.
 */
export function isTopLevelDomain(name: string): boolean {
  const label = name.toLowerCase()
  topLevel ??= new Set<string>(require('tlds'))
  // Convert the name: the list has internationalised names in Unicode, not as xn--….
  return topLevel.has(label) || (label.startsWith('xn--') && !label.includes('.'))
}

/**
 * Whether only machines of a local network can have this name or one below it: `nas`, `nas.lan`, `localhost`,
 * but not `lan` itself.
 */
export function isOfLocalNetwork(name: string): boolean {
  if (LOCAL_DOMAINS.includes(name) || name === '') return false
  if (!name.includes('.')) return !isTopLevelDomain(name)
  return LOCAL_DOMAINS.some((domain) => name.endsWith(`.${domain}`))
}

/**
 * Whether a host is this machine, so that nobody can intercept the connection: localhost and names below it
 * (RFC 6761, 6.3), 127.0.0.0/8 and ::1, also in the brackets of a URL.
 */
export function isLoopback(host: string): boolean {
  return /^((.+\.)?localhost\.?|127(\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
}
