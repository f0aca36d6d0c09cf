// An undeclared reverse proxy on this machine: reported once in the log, and to administrators while the
// process runs.

import { expect, test } from 'bun:test'
import { LANGUAGES } from '../../src/words/words.ts'
import { startInstance } from '../support/instance.ts'
import { createPeople } from '../support/people.ts'

const WARNING = 'is not trusted'
const FORWARDED = { from: '127.0.0.1', headers: { 'x-forwarded-for': '203.0.113.9' } }

test('an undeclared proxy is reported once in the log, and to administrators in every language', async () => {
  const instance = await startInstance()
  await instance.addAccount('ann@example.org', { isAdmin: true })
  const ann = await createPeople(instance).signIn('ann@example.org')
  await instance.fetch('/up', { from: '127.0.0.1' })
  await instance.fetch('/up', { ...FORWARDED, from: '192.0.2.9' })
  expect(instance.log.join('\n')).not.toContain(WARNING)
  expect((await ann.get('/admin')).text).not.toContain('--trusted-proxy 127.0.0.1')

  for (let n = 0; n < 3; n += 1) await instance.fetch('/up', FORWARDED)
  const lines = instance.log.filter((line) => line.includes(WARNING))
  expect(lines).toEqual([expect.stringMatching(/ warn .*--trusted-proxy 127\.0\.0\.1 /)])
  for (const language of LANGUAGES)
    expect((await ann.get(`/admin?lang=${language}`)).text).toContain('--trusted-proxy 127.0.0.1</code>')
  await instance.close()
})

test('a declared proxy is not reported', async () => {
  const instance = await startInstance({ flags: { 'trusted-proxy': '127.0.0.0/8,::1' } })
  await instance.fetch('/up', FORWARDED)
  await instance.fetch('/up', { ...FORWARDED, from: '::1' })
  expect(instance.log.join('\n')).not.toContain(WARNING)
  await instance.close()
})
