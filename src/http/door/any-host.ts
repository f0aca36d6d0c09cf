// What is answered under names that are not this server's.

import { EXEMPT_PATHS, FILES } from '../urls.ts'

const PATHS: ReadonlySet<string> = new Set([
  ...EXEMPT_PATHS,
  ...[FILES.up, FILES.ready, FILES.favicon].map(({ path }) => path),
])
const ASSETS = FILES.asset.href({ name: '' })

/**
 * Whether a path is answered whatever the Host: monitoring asks by any address, and the page that refuses a name needs its
 * style sheet and icons. None of them holds a secret.
 */
export function answersAnyHost(path: string): boolean {
  return PATHS.has(path) || path.startsWith(ASSETS)
}
