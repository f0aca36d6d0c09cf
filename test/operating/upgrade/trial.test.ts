// The test of a new program says what did not hold, so that whoever upgrades need not run it again to learn that.

import { expect, test } from 'bun:test'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tryProgram } from '../../../src/operating/upgrade/trial.ts'

/** A program whose self-test finds one broken promise, with its steps on the standard error as the real one has them. */
const BREAKS_A_PROMISE = `#!/bin/sh
[ "$1" = selftest ] || exit 0
echo '… starting a server' >&2
echo 'What has expired is destroyed: oncebox.db-wal still contains 40 bytes'
echo '… expiring everything, and searching again' >&2
echo 'oncebox: 1 of 6 promises did not hold.' >&2
exit 1
`

test('a broken promise is named in the refusal, without the steps', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'oncebox-trial-'))
  const program = join(parent, 'oncebox')
  writeFileSync(program, BREAKS_A_PROMISE, { mode: 0o755 })
  const folder = join(parent, 'trial')
  await expect(tryProgram({ program, folder, copy: null, tell: () => undefined })).rejects.toThrow(
    'nothing was changed: "selftest" ended with 1. What has expired is destroyed: oncebox.db-wal still contains ' +
      '40 bytes oncebox: 1 of 6 promises did not hold.',
  )
  expect(existsSync(folder)).toBe(false)
  rmSync(parent, { recursive: true })
})
