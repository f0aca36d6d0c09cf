// Which names of machines belong to a local network. An authority for such names cannot vouch for a site on
// the internet.

/** Made when it is first asked, because a start would wait for it. */
let topLevel: ReadonlySet<string> | undefined

/**
 * The domains that routers and mDNS append to a machine's name. Nobody can register a name below them in the
 * public DNS.
 */
export const LOCAL_DOMAINS: readonly string[] = ['local', 'lan', 'internal', 'home.arpa']

/**
 * Whether it is a top-level domain of the public DNS, such as `box` and `dev`. Machines have such names too,
 * but an authority for one could vouch for every site below it.
 */
export function isTopLevelDomain(name: string): boolean {
  const label = name.toLowerCase()
  topLevel ??= new Set<string>(require('tlds'))
  // The list has names in other scripts in Unicode, not as xn--….
  return topLevel.has(label) || (label.startsWith('xn--') && !label.includes('.'))
}

/**
 * Whether only machines of a local network have this name or one below it: `nas`, `nas.lan`, `localhost`. Not
 * `lan` itself.
 */
export function isOfLocalNetwork(name: string): boolean {
  if (LOCAL_DOMAINS.includes(name) || name === '') return false
  if (!name.includes('.')) return !isTopLevelDomain(name)
  return LOCAL_DOMAINS.some((domain) => name.endsWith(`.${domain}`))
}
