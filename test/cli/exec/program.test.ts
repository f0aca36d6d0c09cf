// Which program is run, and the exit code if it cannot be run.

import { afterAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, NOT_EXECUTABLE, NOT_FOUND, ProgramFailure } from '../../../src/cli/exec/program.ts'
import type { Shell } from '../../../src/cli/shell.ts'

const folder = mkdtempSync(join(tmpdir(), 'oncebox-program-'))
mkdirSync(join(folder, 'later'))
writeFileSync(join(folder, 'plain'), 'x')
writeFileSync(join(folder, 'both'), 'x')
writeFileSync(join(folder, 'later', 'both'), '#!/bin/sh\n', { mode: 0o755 })
afterAll(() => rmSync(folder, { recursive: true }))

const os = { env: { PATH: `${folder}:${join(folder, 'later')}` }, cwd: folder } as unknown as Shell['os']

function refusalOf(name: string): unknown {
  try {
    return findProgram(name, os)
  } catch (cause) {
    return cause instanceof ProgramFailure ? cause.exitCode : cause
  }
}

test('a program that no folder of PATH can run has the exit codes of shells', () => {
  expect([refusalOf('plain'), refusalOf('./plain')]).toEqual([NOT_EXECUTABLE, NOT_EXECUTABLE])
  expect([refusalOf('none'), refusalOf('./none')]).toEqual([NOT_FOUND, NOT_FOUND])
})

test('a file that cannot be executed does not hide the program behind it', () => {
  expect(findProgram('both', os)).toBe(join(folder, 'later', 'both'))
})
