// Builds the executable: `npm run build`, for another system with `-- --target bun-windows-x64` and the like.

import { statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { compile, PROJECT, VERSION } from './compile.ts'
import { writeSbom } from './sbom.ts'
import { writeDeclaration } from './words.ts'

/** Returns the path of the executable: `dist/oncebox` for this system, else with the target in its name. */
function outputFor(target: string | undefined): string {
  const system = target?.replace(/^bun-/, '')
  const isWindows = system === undefined ? process.platform === 'win32' : system.startsWith('windows')
  const name = system === undefined ? 'oncebox' : `oncebox-${system}`
  return join(PROJECT, 'dist', isWindows ? `${name}.exe` : name)
}

async function build(target: string | undefined): Promise<void> {
  const output = outputFor(target)
  const startedAt = performance.now()
  await writeDeclaration()
  await compile({ output, target })
  await writeSbom(join(PROJECT, 'dist', 'oncebox.cdx.json'))
  const megabytes = (statSync(output).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(
    `${relative(process.cwd(), output)}: Oncebox ${VERSION}, ${megabytes} MB, built in ${seconds} s`,
  )
}

try {
  const { values } = parseArgs({ options: { target: { type: 'string' } } })
  await build(values.target)
} catch (cause) {
  console.error(`The build failed: ${cause instanceof Error ? cause.message : cause}`)
  process.exit(1)
}
