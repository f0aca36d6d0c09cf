// `npm ci` prints no warnings, and the oldest Node.js that the README names runs every package.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

type Locked = { engines?: { node?: string }; hasInstallScript?: boolean; optional?: boolean }
type Lock = { packages: Record<string, Locked> }

const root = join(import.meta.dir, '..')
const lock: Lock = await Bun.file(join(root, 'package-lock.json')).json()
const manifest: { allowScripts: Record<string, boolean> } = await Bun.file(join(root, 'package.json')).json()
const OLDEST_NODE = '20.19.0'
const packages = Object.entries(lock.packages).filter(([path]) => path !== '')

test(`every package runs on Node.js ${OLDEST_NODE}, which the README requires`, async () => {
  const wrong = packages.filter(([, { engines }]) => !Bun.semver.satisfies(OLDEST_NODE, engines?.node ?? '*'))
  expect(wrong.map(([path]) => path)).toEqual([])
  expect(packages.length).toBeGreaterThan(50)
  expect(await Bun.file(join(root, 'README.md')).text()).toContain('Node.js 20.19')
})

test('every install script is allowed or refused by the name of its package, without a version', () => {
  // npm treats a version as unknown if the lock file does not say where the package comes from.
  const named = packages
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 13))
  expect(named.length).toBeGreaterThan(0)
  for (const name of named) expect(Object.keys(manifest.allowScripts)).toContain(name)
})
