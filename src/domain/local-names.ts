// Names of machines: which ones belong to a local network, so that an authority for them is one for nobody else.

import tlds from 'tlds'

const TOP_LEVEL: ReadonlySet<string> = new Set(tlds)

/** What routers and mDNS put behind a machine's name. Nobody can register a name below these in the public DNS. */
export const LOCAL_DOMAINS: readonly string[] = ['local', 'lan', 'internal', 'home.arpa']

/**
 * Whether it is a top-level domain of the public DNS, such as `box` and `dev`. Machines have such names too, but an authority
 * for one could vouch for every site below it.
 */
export function isTopLevelDomain(name: string): boolean {
  const label = name.toLowerCase()
  // The list spells those in other scripts as people do.
  return TOP_LEVEL.has(label) || (label.startsWith('xn--') && !label.includes('.'))
}

/** Whether the name and all below it are of machines of a local network: `nas`, `nas.lan`, `localhost`. Not `lan` itself. */
export function isOfLocalNetwork(name: string): boolean {
  if (LOCAL_DOMAINS.includes(name) || name === '') return false
  if (!name.includes('.')) return !isTopLevelDomain(name)
  return LOCAL_DOMAINS.some((domain) => name.endsWith(`.${domain}`))
}
