// The paths that are answered whatever name the Host header has. Nothing else is answered under a foreign name.

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
