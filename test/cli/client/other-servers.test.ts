// The client commands against busy, older and failing servers.

import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createTrial } from '../trial.ts'
import { pushOf, useClients } from './clients.ts'

const { path, tryOut, signedIn, get, fake, place } = useClients()

describe('other servers', () => {
  test('the client waits as long as a busy server asks', async () => {
    let tries = 0
    const url = fake(() => {
      tries += 1
      const headers = { 'retry-after': '1' }
      return tries < 2 ? Response.json({ error: 'busy' }, { status: 429, headers }) : pushOf([])
    })
    const received = await get(`${url}/p/abcdefgh`)
    expect(received).toMatchObject({ code: 0, out: 'secret' })
    expect(received.err[0]).toContain('asks to wait 1 s')
  })

  test('a server that stays busy is reported', async () => {
    const url = fake(() =>
      Response.json({ error: 'Too many.' }, { status: 429, headers: { 'retry-after': '3600' } }),
    )
    expect(await get(`${url}/p/abcdefgh`)).toMatchObject({ code: 5, err: ['oncebox: Too many.'] })
  })

  test('Password Pusher gets the passphrase in the query, and its lists of files work', async () => {
    const queries: string[] = []
    const url = fake((request) => {
      const { pathname, search } = new URL(request.url)
      if (pathname.endsWith('/version'))
        return Response.json({ application_version: '1.68.0', api_version: '2.1' })
      if (pathname === '/f') return new Response('content')
      if (pathname.endsWith('/preview')) return Response.json({ url })
      queries.push(search)
      if (search === '')
        return Response.json(
          { error: 'This push has a passphrase that was incorrect or not provided.' },
          { status: 401 },
        )
      return pushOf(JSON.stringify({ 'a.bin': `${url}/f` }))
    })
    const trial = tryOut({ answers: ['s & é'] })
    expect(await trial.run('get', `${url}/en/p/abcdefgh/r`, '--output', place.folder)).toBe(0)
    expect(queries).toEqual(['', '?passphrase=s%20%26%20%C3%A9'])
    expect(readFileSync(path('a.bin'), 'utf8')).toBe('content')
  })

  test.each<[string, () => Response, number, string]>([
    ['a page', () => new Response('<html>'), 1, 'does not seem to offer this API (HTTP 200)'],
    [
      'a broken proxy',
      () => new Response('Bad Gateway', { status: 502 }),
      5,
      'answers HTTP 502: try again later',
    ],
    ['a proxy that fails in JSON', () => Response.json({ message: 'x' }, { status: 502 }), 5, 'HTTP 502'],
    [
      'a proxy that fails in HTML',
      () => new Response('<h1>504</h1>', { status: 504 }),
      5,
      'answers HTTP 504: try again later',
    ],
    ['a response without a push', () => Response.json({ id: 1 }), 1, 'a push without url_token'],
    ['an error with colours', () => Response.json({ error: '\u001b[31mno' }, { status: 403 }), 4, '␛[31mno'],
  ])('%s', async (_, answer, code, said) => {
    const received = await get(`${fake(answer)}/p/abcdefgh`)
    expect(received.code).toBe(code)
    expect(received.err[0]).toContain(said)
  })

  test('a failing proxy ends version, list and push as unavailable', async () => {
    const answers = [() => new Response('<h1>', { status: 502 }), () => Response.json({}, { status: 503 })]
    for (const answer of answers) {
      const url = fake(answer)
      expect(await createTrial({ home: place.folder, answers: ['x'] }).run('login', url)).toBe(5)
      for (const argv of [
        ['list'],
        ['push'],
        ['expire', 'abcdefgh'],
        ['audit', 'abcdefgh'],
        ['get', 'abcdefgh'],
      ])
        expect(await signedIn({ input: 'x' }).run(...argv, '--server', url)).toBe(5)
    }
  })

  test('an address without a server is reported as unavailable', async () => {
    const received = await get('http://127.0.0.1:1/p/abcdefgh')
    expect(received).toMatchObject({
      code: 5,
      err: ['oncebox: Cannot reach http://127.0.0.1:1: nothing listens there.'],
    })
  })
})
