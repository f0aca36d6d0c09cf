// Fills an empty data folder for `npm run dev`: an administrator, ten pushes in all their states, and a
// request with an answer.

import { DAY } from '../../src/domain/time.ts'
import { createTestClock, startInstance } from '../../test/support/instance.ts'

export const ADMIN = { email: 'admin@example.org', password: 'correct horse battery' }

const PUSHES = '/api/v2/pushes'

/** Fills a folder. Advances the test clock by two days, so that one of the pushes expires by time. */
export async function seed(dataDir: string): Promise<void> {
  const clock = createTestClock(Date.now() - 2 * DAY)
  const instance = await startInstance({ dataDir, clock, flags: { 'max-passphrase-attempts': '2' } })
  const token = await instance.addAccount(ADMIN.email, { isAdmin: true })

  async function ask(path: string, init: Parameters<typeof instance.fetch>[1] = {}): Promise<Response> {
    const response = await instance.fetch(path, { token, ...init })
    if (response.status >= 500) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  async function make(path: string, json: object): Promise<string> {
    const response = await ask(path, { json })
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()).url_token
  }
  const push = (fields: object) => make(PUSHES, { push: { payload: 'correct horse', ...fields } })
  /** Sends a request as a recipient, without a token. */
  const open = (urlToken: string, passphrase = '') =>
    instance.fetch(`${PUSHES}/${urlToken}?passphrase=${passphrase}`)

  await push({ name: 'The time has passed', expire_after_days: 1 })
  clock.advance(2 * DAY)
  await instance.sweep()
  const revoked = await push({ name: 'Revoked' })
  await ask(`${PUSHES}/${revoked}`, { method: 'DELETE' })
  await open(await push({ name: 'Opened as often as allowed', expire_after_views: 1 }))
  for (const deletable_by_viewer of [true, false]) {
    const name = deletable_by_viewer ? 'Ended by wrong passphrases' : 'Locked by wrong passphrases'
    const urlToken = await push({ name, passphrase: 'sesame', deletable_by_viewer })
    for (const guess of ['1111', '1234']) await open(urlToken, guess)
  }
  await open(await push({ name: 'Opened once of five times', expire_after_views: 5 }))
  await push({ name: 'A network', kind: 'qr', payload: 'WIFI:S:office;T:WPA;P:correct horse;;' })
  await push({ name: 'An address', kind: 'url', payload: 'https://example.org/' })
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'A file with a passphrase', passphrase: 'sesame' }))
    form.set(`push[${name}]`, value)
  form.append('push[files][]', new File(['correct horse\n'], 'password.txt'))
  await ask(PUSHES, { body: form })
  await push({ name: 'A text', note: 'Nobody has opened it.' })
  const asked = { name: 'The password of the router', max_answers: 3 }
  const request = await make('/api/oncebox/requests', { request: asked })
  await instance.fetch(`/api/oncebox/requests/${request}/answers`, {
    json: { push: { payload: 'correct horse' } },
  })
  await instance.stop()
}
