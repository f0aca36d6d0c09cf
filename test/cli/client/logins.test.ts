// `oncebox login`, `logout` and `logins`, and which server gets a token.

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createTrial } from '../trial.ts'
import { pushOf, useClients } from './clients.ts'

const { path, signedIn, fake, place } = useClients()

describe('logins', () => {
  test('are stored privately, checked first, and chosen by name', async () => {
    const trial = createTrial({ home: place.folder, answers: [place.token] })
    expect(await trial.run('login', `${place.server.url}/`)).toBe(0)
    const file = path('.config/oncebox/client.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(path('.config/oncebox')).mode & 0o077).toBe(0)
    const second = createTrial({ home: place.folder })
    expect(await second.run('login', place.server.url, '--profile', 'anonymous', '--anonymous')).toBe(0)
    const list = createTrial({ home: place.folder })
    expect(await list.run('list')).toBe(0)
    const refused = createTrial({ home: place.folder })
    expect(await refused.run('list', '--profile', 'anonymous')).toBe(4)
    const logins = createTrial({ home: place.folder })
    await logins.run('logins')
    expect(logins.out.slice(1)).toEqual([
      `default    ${place.server.url}  ${place.token.slice(0, 8)}…`,
      `anonymous  ${place.server.url}  none`,
    ])
    const logout = createTrial({ home: place.folder })
    expect(await logout.run('logout')).toBe(0)
    expect(readFileSync(file, 'utf8')).not.toContain(place.token)
    const unknown = createTrial({ home: place.folder })
    expect(await unknown.run('list', '--profile', 'home')).toBe(1)
  })

  test('an empty token does not replace a stored one by accident', async () => {
    await createTrial({ home: place.folder, answers: [place.token] }).run('login', place.server.url)
    const before = readFileSync(path('.config/oncebox/client.json'), 'utf8')
    const piped = createTrial({ home: place.folder, input: '\n' })
    expect(await piped.run('login', place.server.url, '--token-stdin')).toBe(1)
    expect(piped.err.join()).toContain('nothing was changed')
    const typed = createTrial({ home: place.folder, answers: ['', ''] })
    expect(await typed.run('login', place.server.url)).toBe(1)
    const both = createTrial({ home: place.folder, input: place.token })
    expect(await both.run('login', place.server.url, '--token-stdin', '--anonymous')).toBe(2)
    expect(readFileSync(path('.config/oncebox/client.json'), 'utf8')).toBe(before)
    const agreed = createTrial({ home: place.folder, answers: ['', 'y'] })
    expect(await agreed.run('login', place.server.url)).toBe(0)
    expect(readFileSync(path('.config/oncebox/client.json'), 'utf8')).not.toContain(place.token)
  })

  test('a token that is not accepted is not saved', async () => {
    const trial = createTrial({ home: place.folder, answers: ['obx_wrong'] })
    expect(await trial.run('login', place.server.url)).toBe(4)
    expect(readdirSync(place.folder)).toEqual([])
  })

  test('the message for a damaged file of logins names the remedy', async () => {
    const trial = createTrial({ home: place.folder, answers: [place.token] })
    await trial.run('login', place.server.url)
    writeFileSync(path('.config/oncebox/client.json'), '{"profiles": [{"name": 1}]}')
    const list = createTrial({ home: place.folder })
    expect(await list.run('list')).toBe(1)
    expect(list.err[0]).toContain('is damaged: remove it')
  })

  test('a token is never sent to another server or to the target of a redirect', async () => {
    const seen: (string | null)[] = []
    const elsewhere = fake((request) => {
      seen.push(request.headers.get('authorization'))
      return pushOf([])
    })
    expect(await signedIn().run('get', `${elsewhere}/p/abcdefgh`)).toBe(0)
    const pointing = fake(() => Response.redirect(`${elsewhere}/api/v2/pushes/active`, 302))
    const redirected = signedIn({ env: { ONCEBOX_SERVER: pointing } })
    expect(await redirected.run('list')).toBe(1)
    expect(redirected.err[0]).toContain('log in to that server instead')
    expect(seen).toEqual([null, null])
  })
})
