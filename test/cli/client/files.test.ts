// `oncebox get` with files: names, resumed downloads, and servers that lie.

import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cutOff, fileAt, pushOf, useClients } from './clients.ts'

const { path, tryOut, signedIn, push, get, fake, place } = useClients()

describe('files', () => {
  test('arrive complete under their names, with a text, without overwriting anything', async () => {
    const names = ['a.txt', 'with "quotes" é.bin', 'empty']
    for (const name of names) writeFileSync(path(name), name === 'empty' ? '' : name.repeat(100_000))
    const trial = signedIn({ input: 'one\ntwo\n' })
    const link = await push(trial, '-', ...names.flatMap((name) => ['--file', path(name)]))
    const received = await get(link, '--output', path('in'))
    expect(received).toMatchObject({ code: 0, out: 'one\ntwo\n' })
    expect(readdirSync(path('in')).sort()).toEqual([...names].sort())
    for (const name of names) expect(readFileSync(path(`in/${name}`))).toEqual(readFileSync(path(name)))
    expect((await get(link, '--output', path('in'))).code).toBe(0)
    expect(readdirSync(path('in'))).toContain('a (2).txt')
  })

  test('--output can name a single file', async () => {
    writeFileSync(path('a'), 'content')
    const link = await push(signedIn(), '--file', path('a'))
    expect((await get(link, '--output', path('b'))).code).toBe(0)
    expect(readFileSync(path('b'), 'utf8')).toBe('content')
  })

  test('a file from standard input gets the name of --name', async () => {
    const link = await push(signedIn({ input: 'piped' }), '--file', '-', '--name', 'photos.tgz')
    expect((await get(link, '--output', path('in/'))).code).toBe(0)
    expect(readFileSync(path('in/photos.tgz'), 'utf8')).toBe('piped')
    const list = signedIn()
    await list.run('list')
    expect(list.out.join()).toContain('photos.tgz')
  })

  test('need a login, which is checked before sending', async () => {
    writeFileSync(path('a'), 'content')
    const trial = tryOut()
    expect(await trial.run('push', '--file', path('a'))).toBe(4)
    expect(trial.err).toEqual([`oncebox: Files need a login: "oncebox login ${place.server.url}".`])
  })

  test('an interrupted download resumes where it stopped', async () => {
    const content = Buffer.from('0123456789'.repeat(20_000))
    const ranges: (string | null)[] = []
    const url = fake((request) => {
      if (new URL(request.url).pathname.startsWith('/api')) return pushOf([fileAt(url, content.length)])
      const range = request.headers.get('range')
      ranges.push(range)
      const from = Number(/\d+/.exec(range ?? '0')?.[0])
      const rest = content.subarray(from)
      const body = ranges.length < 3 ? cutOff(rest.subarray(0, 50_000)) : rest
      return new Response(body, { status: from === 0 ? 200 : 206 })
    })
    const received = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(received).toMatchObject({ code: 0 })
    expect(readFileSync(path('in'))).toEqual(content)
    expect(ranges.length).toBe(3)
    expect(ranges[2]).toMatch(/^bytes=[1-9]\d+-$/)
  }, 600_000)

  test('the same command resumes later, without another view', async () => {
    let asked = 0
    let isUp = false
    const url = fake((request) => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith('/api')) {
        asked += pathname.endsWith('/preview') ? 0 : 1
        return pushOf([fileAt(url, 7)])
      }
      return isUp ? new Response('content') : Response.json({ error: 'too busy' }, { status: 503 })
    })
    const first = await get(`${url}/p/abcdefgh`, '--output', place.folder)
    expect(first.code).toBe(5)
    isUp = true
    const second = await get(`${url}/p/abcdefgh`, '--output', place.folder)
    expect(second).toMatchObject({ code: 0 })
    expect(second.err[0]).toContain('uses up no view')
    expect(asked).toBe(1)
    expect(readdirSync(place.folder)).toEqual(['a.bin'])
  }, 600_000)

  test('an expired download link is requested again', async () => {
    let asked = 0
    const url = fake((request) => {
      const { pathname } = new URL(request.url)
      if (!pathname.startsWith('/api'))
        return asked < 2 ? Response.json({ error: 'lapsed' }, { status: 403 }) : new Response('content')
      asked += pathname.endsWith('/preview') ? 0 : 1
      return pushOf([fileAt(url, 7)])
    })
    expect((await get(`${url}/p/abcdefgh`, '--output', place.folder)).code).toBe(3)
    expect((await get(`${url}/p/abcdefgh`, '--output', place.folder)).code).toBe(0)
    expect(readdirSync(place.folder)).toEqual(['a.bin'])
  })

  test('a hostile server cannot write outside the folder', async () => {
    const names = ['../../escape', '/etc/escape', '..', 'C:\\escape', '.oncebox-x.json', 'a\u0000b\u001b[2J']
    const url = fake((request) => {
      const files = names.map((filename) => ({ ...fileAt(url, 1), filename }))
      return new URL(request.url).pathname.startsWith('/api') ? pushOf(files) : new Response('x')
    })
    expect((await get(`${url}/p/abcdefgh`, '--output', path('in'))).code).toBe(0)
    expect(readdirSync(path('in')).sort()).toEqual([
      'ab[2J',
      'escape',
      'escape (2)',
      'escape (3)',
      'file',
      'oncebox-x.json',
    ])
    expect(existsSync(join(place.folder, '../escape'))).toBe(false)
  })

  test('an unsafe name is made harmless, and the command says so', async () => {
    const names = [
      '.bash_profile',
      'con.txt',
      'a.txt:b.exe',
      'photo\u202egpj.exe',
      'A.TXT',
      'a.txt',
      'plain.txt',
    ]
    const url = fake((request) => {
      const files = names.map((filename) => ({ ...fileAt(url, 1), filename }))
      return new URL(request.url).pathname.startsWith('/api') ? pushOf(files) : new Response('x')
    })
    const received = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(received.code).toBe(0)
    const expected = [
      'A.TXT',
      '_con.txt',
      'a (2).txt',
      'a.txt_b.exe',
      'bash_profile',
      'photogpj.exe',
      'plain.txt',
    ]
    expect(readdirSync(path('in')).sort()).toEqual(expected)
    const said = received.err.filter((line) => line.includes('The sender named it'))
    expect(said).toHaveLength(5)
    expect(said[0]).toEndWith('bash_profile (1 B). The sender named it ".bash_profile".')
    expect(said[3]).toEndWith('The sender named it "photo\\u202egpj.exe".')
  })

  test('--output sets the exact name of a single file', async () => {
    const url = fake((request) =>
      new URL(request.url).pathname.startsWith('/api') ? pushOf([fileAt(url, 1)]) : new Response('x'),
    )
    const received = await get(`${url}/p/abcdefgh`, '--output', path('.bashrc'))
    expect(received.code).toBe(0)
    expect(received.err.join()).not.toContain('named it')
    expect(readdirSync(place.folder)).toEqual(['.bashrc'])
  })

  test('symlinks planted in the folder are not followed', async () => {
    const url = fake((request) =>
      new URL(request.url).pathname.startsWith('/api') ? pushOf([fileAt(url, 1)]) : new Response('x'),
    )
    writeFileSync(path('victim'), 'kept')
    mkdirSync(path('in'))
    const id = createHash('sha256').update(`${url} abcdefgh`).digest('hex').slice(0, 16)
    const planted = ['a.bin', `.oncebox-${id}.json`, `.oncebox-${id}.json.new`, `.oncebox-${id}-0.part`]
    for (const name of planted) symlinkSync(path('victim'), path(`in/${name}`))
    const received = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(received).toMatchObject({ code: 0 })
    expect(readFileSync(path('victim'), 'utf8')).toBe('kept')
    expect(readdirSync(path('in')).sort()).toEqual(['a (2).bin', 'a.bin'])
  })

  test('several files resume in a new folder, without another view', async () => {
    let asked = 0
    let isUp = false
    const url = fake((request) => {
      const { pathname } = new URL(request.url)
      if (pathname === '/second' && !isUp) return Response.json({ error: 'too busy' }, { status: 503 })
      if (!pathname.startsWith('/api')) return new Response('content')
      asked += pathname.endsWith('/preview') ? 0 : 1
      return pushOf([fileAt(url, 7), { filename: '.b', size: 7, url: `${url}/second` }])
    })
    expect((await get(`${url}/p/abcdefgh`, '--output', path('in'))).code).toBe(5)
    isUp = true
    const second = await get(`${url}/p/abcdefgh`, '--output', path('in'))
    expect(second).toMatchObject({ code: 0 })
    expect(second.err.at(-1)).toContain('The sender named it ".b".')
    expect(asked).toBe(1)
    expect(readdirSync(path('in')).sort()).toEqual(['a.bin', 'b'])
  }, 600_000)

  test('a wrong announced size is detected', async () => {
    const url = fake((request) =>
      new URL(request.url).pathname.startsWith('/api') ? pushOf([fileAt(url, 3)]) : new Response('content'),
    )
    const received = await get(`${url}/p/abcdefgh`, '--output', path('x'))
    expect(received).toMatchObject({
      code: 1,
      err: expect.arrayContaining(['oncebox: The server sent more than the 3 bytes that it announced.']),
    })
    expect(existsSync(path('x'))).toBe(false)
  })

  test('a link that is not a web address is not followed', async () => {
    const url = fake(() => pushOf([{ filename: 'a', size: 1, url: 'file:///etc/passwd' }]))
    expect((await get(`${url}/p/abcdefgh`, '--output', place.folder)).code).toBe(1)
    expect(readdirSync(place.folder)).toEqual([])
  })
})
