// Builds a fake next version: this source with a higher version number, one more migration, and changed
// pages.

import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT, VERSION } from '../compile.ts'

const LEFT_OUT = new Set(['node_modules', 'dist', '.git'])

/**
 * Resolves to the path of the executable, which is removed with this process. `npm run check` runs this file,
 * because its edits depend on the source.
 */
export async function buildNextVersion(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-next-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const name of readdirSync(PROJECT))
    if (!LEFT_OUT.has(name)) cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  raiseVersion(join(folder, 'package.json'))
  addMigration(join(folder, 'src/store/postgres/migrate.ts'))
  changePages(join(folder, 'src/pages/frame'))
  const child = Bun.spawn([process.execPath, 'scripts/build.ts'], {
    cwd: folder,
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const complaints = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`the next version cannot be built: ${complaints}`)
  return join(folder, 'dist', 'oncebox')
}

function raiseVersion(path: string): void {
  const [major = '', minor = ''] = VERSION.split('.')
  const next = `${major}.${Number(minor) + 1}.0`
  writeFileSync(path, readFileSync(path, 'utf8').replace(`"version": "${VERSION}"`, `"version": "${next}"`))
}

const MIGRATIONS = /(export const MIGRATIONS: readonly Migration\[\] = \[[\s\S]*?\})(,?\s*\])/
const NEXT = "{ sql: 'ALTER TABLE pushes ADD COLUMN later integer', compatibleFrom: 1 }"

/** Adds a column that the former version ignores. */
function addMigration(path: string): void {
  const source = readFileSync(path, 'utf8')
  if (!MIGRATIONS.test(source)) throw new Error(`${path} holds no list of migrations any more`)
  writeFileSync(path, source.replace(MIGRATIONS, `$1, ${NEXT}$2`))
}

/** Changes styles and scripts, so that their names differ from the former version's. */
function changePages(frame: string): void {
  appendFileSync(join(frame, 'styles/base.css'), '\n/* the next version */\n')
  appendFileSync(join(frame, 'browser/common.js'), "\ntold.dataset.next = ''\n")
  appendFileSync(join(frame, 'browser/create/form.js'), "\nform.dataset.next = ''\n")
}

if (import.meta.main) await buildNextVersion()
