// The self-test itself: it finds broken promises.

import { expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runSelftest } from '../../src/selftest/selftest.ts'

const LIAR = [process.execPath, resolve(import.meta.dir, '../support/lying-server.ts')]

const KILLS = 'What was acknowledged survives kill -9'
const DISK = 'Nothing on the disk can be read'

/** A server's lie, and the fault that is found for each promise. */
test.each<[lie: string, faults: Record<string, string>]>([
  [
    'one view more',
    { 'Exactly as many payloads as views': 'payloads for', [KILLS]: '4 payloads for 3 views' },
  ],
  ['lets guess', { 'Passphrases cannot be guessed': '401 200' }],
  ['forgets', { [KILLS]: 'is lost: retrieve answered 404' }],
  ['keeps what was deleted', { [KILLS]: 'after it was deleted' }],
  ['in the clear', { [DISK]: 'holds a secret in the clear' }],
  ['open folder', { [DISK]: 'can be read by other users' }],
])('finds a server that %s', async (lie, faults) => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-selftest-'))
  writeFileSync(join(folder, 'lie'), lie)
  const findings = await runSelftest({
    self: LIAR,
    dataDir: join(folder, 'data'),
    duration: lie === 'one view more' || lie === 'keeps what was deleted' ? 2500 : 600,
    seed: 7,
    onStep: () => undefined,
  })
  for (const [promise, fault] of Object.entries(faults)) {
    const found = findings.find((finding) => finding.promise === promise)
    expect(found?.faults.join('\n')).toContain(fault)
  }
  // The self-test has removed its own folder.
  expect(readdirSync(folder)).toEqual(['lie'])
  chmodSync(folder, 0o700)
  rmSync(folder, { recursive: true })
})

test('reports a server that does not start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-selftest-'))
  const options = { dataDir: join(folder, 'data'), duration: 1, seed: 7, onStep: () => undefined }
  await expect(runSelftest({ ...options, self: ['/bin/false'] })).rejects.toThrow('did not become ready')
  rmSync(folder, { recursive: true })
})
