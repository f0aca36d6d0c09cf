// The tests on a machine that has only Node.js with npm: tests that start other programs are skipped by name.

import { afterAll, expect, test } from 'bun:test'
import { readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSkips } from '../../scripts/skips.ts'
import { commandOf, type Phase, QUICK, SIDE_BY_SIDE } from '../../scripts/tests.ts'
import { createStage } from '../support/binary.ts'

const PROJECT = join(import.meta.dir, '../..')
const SUPPORT = join(PROJECT, 'test/support')
/** Matches the start of a program by its name, or a script; Oncebox and Bun are started by their paths. */
const STARTS = /\bBun\.spawn(Sync)?\(\s*\[\s*(\.\.\.\[)?'|(await |Bun\.)\$`|\bneeds\(|#!\//

const stage = createStage()
afterAll(stage.clear)

/** Matches an import of a file of test/support that starts programs. */
function importsOfStarters(): RegExp {
  const starters = readdirSync(SUPPORT).filter((name) =>
    STARTS.test(readFileSync(join(SUPPORT, name), 'utf8')),
  )
  return new RegExp(`/support/(${starters.join('|')})'`)
}

/** Returns the files of the phase that start other programs. */
function startingPrograms({ files, ...phase }: Phase): Phase {
  const imports = importsOfStarters()
  const isStarting = (text: string) => imports.test(text) || STARTS.test(text)
  const isOther = (path: string) => !import.meta.path.endsWith(path)
  return {
    ...phase,
    workers: 2,
    files: files.filter((path) => isOther(path) && isStarting(readFileSync(join(PROJECT, path), 'utf8'))),
  }
}

test.each([QUICK, SIDE_BY_SIDE])(
  'tests with programs pass or are skipped by name: $name',
  async (phase) => {
    const path = stage.folder()
    const node = Bun.which('node')
    if (node !== null) symlinkSync(node, join(path, 'node'))
    const child = Bun.spawn(commandOf(startingPrograms(phase), process.execPath), {
      cwd: PROJECT,
      env: { PATH: path, HOME: path, TMPDIR: tmpdir() },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const output = await new Response(child.stderr).text()
    const failed = output.split('\n').filter((line) => /^\(fail\)|^error:/.test(line))
    expect([failed, await child.exited]).toEqual([[], 0])
    const skips = createSkips()
    for (const line of output.split('\n')) skips.note(line)
    expect(skips.table()).toContain('Skipped for want of a program')
    expect(output).not.toContain('(skip) (unnamed)')
  },
  900_000,
)
