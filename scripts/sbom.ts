// Builds the software bill of materials beside the binary: CycloneDX, from the lock file, plus the runtime.

import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }

const PROJECT = join(import.meta.dir, '..')

type Bill = { serialNumber?: string; metadata: { timestamp?: string }; components: object[] }

/** Builds the bill. Throws when npm is missing or fails. */
export async function writeSbom(path: string): Promise<void> {
  const flags = ['--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application']
  const child = Bun.spawnSync(['npm', 'sbom', ...flags], { cwd: PROJECT, stdin: 'ignore', stderr: 'pipe' })
  if (!child.success) throw new Error(`npm sbom: ${child.stderr}`)
  const { serialNumber: _, metadata, ...bill }: Bill = JSON.parse(child.stdout.toString())
  // Omits the time and the serial number, so that the same lock file gives the same output.
  const { timestamp: __, ...described } = metadata
  const version = manifest.devDependencies.bun
  const runtime = {
    type: 'framework',
    'bom-ref': `bun@${version}`,
    name: 'bun',
    version,
    purl: `pkg:npm/bun@${version}`,
    licenses: [{ license: { id: 'MIT' } }],
    description: 'The runtime of the executable; "oncebox licenses" lists its libraries.',
  }
  const whole = { ...bill, metadata: described, components: [runtime, ...bill.components] }
  await Bun.write(path, `${JSON.stringify(whole, null, 2)}\n`)
}
