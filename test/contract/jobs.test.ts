// The server's background jobs on the administration page, in every language, without the reason of a
// failure.

import { afterEach, expect, test } from 'bun:test'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { wordsOf } from '../../src/words/words.ts'
import { startInstance, type TestInstance } from '../support/instance.ts'
import { SOME_LANGUAGES } from '../support/languages.ts'
import { createPeople } from '../support/people.ts'
import { waitUntil } from '../support/waiting.ts'

let instance: TestInstance

afterEach(() => instance.close())

async function startWithAdministrator({ withoutReserve = false } = {}) {
  instance = await startInstance()
  if (withoutReserve) {
    const { dataDir } = instance
    await instance.stop()
    // A folder in place of a file that is written a second after the start.
    rmSync(join(dataDir, 'reserve'), { force: true })
    mkdirSync(join(dataDir, 'reserve'))
    instance = await startInstance({ dataDir })
  }
  await instance.addAccount('ann@example.org', { isAdmin: true })
  return createPeople(instance).signIn('ann@example.org')
}

/** Returns the cells of the table, one row per job, without tags. */
function rowsOf(text: string): string[][] {
  const table = /<section aria-labelledby="jobs-title">.*?<\/section>/s.exec(text)?.[0] ?? ''
  const rows = [...table.matchAll(/<tr><th scope="row">.*?<\/tr>/gs)]
  return rows.map(([row]) =>
    [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell]) => (cell ?? '').replace(/<[^>]+>/g, '')),
  )
}

test.each(SOME_LANGUAGES)('each job has its row in %s, with a name and a state', async (language) => {
  const ann = await startWithAdministrator()
  const { say } = wordsOf(language)
  const rows = rowsOf((await ann.get(`/admin?locale=${language}`)).text)
  const names = (['checkpoint', 'reserve', 'clock', 'sweep', 'expiry', 'deliveries'] as const).map((name) =>
    say(`job_${name}`),
  )
  expect(rows.map(([name]) => name)).toEqual(names)
  const [checkpoint, reserve, clock, sweep, expiry] = rows.map(([, state]) => state ?? '')
  expect([checkpoint, reserve, clock, sweep, expiry]).toEqual(Array(5).fill(say('job_running')))
})

test('the row of the sweep shows when it last ran, and that it never failed', async () => {
  const ann = await startWithAdministrator()
  await instance.sweep()
  const rowOfSweep = async () => rowsOf((await ann.get('/admin')).text)[3] ?? []
  await waitUntil(async () => (await rowOfSweep())[2] !== 'Never')
  expect(await rowOfSweep()).toEqual([
    'Remove secrets that ended long ago',
    'Running',
    wordsOf('en').moment(instance.clock.now()),
    'Never',
  ])
})

test('a failure is shown with its time only; the log has the reason', async () => {
  const ann = await startWithAdministrator({ withoutReserve: true })
  const rowOfReserve = async () => rowsOf((await ann.get('/admin')).text)[1] ?? []
  await waitUntil(async () => (await rowOfReserve())[3] !== 'Never')
  const [, state, done, failed] = await rowOfReserve()
  expect([state, done, failed]).toEqual(['Running', 'Never', wordsOf('en').moment(instance.clock.now())])
  const { text } = await ann.get('/admin')
  expect(text).not.toContain('EISDIR')
  expect(instance.log.join('\n')).toMatch(/a job failed.*job="reserve"[\s\S]*EISDIR/)
})
