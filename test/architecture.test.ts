// Rooms and arrows: which part of the source may import which, and what may appear in one room only.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Glob } from 'bun'

const SRC = resolve(import.meta.dir, '../src')

/** The rooms that a room may import besides itself and `text`, which every room may. */
const ROOMS: Record<string, readonly string[]> = {
  main: ['env', 'cli'],
  env: [],
  'embedded-files': [],
  app: [
    ...['settings', 'client', 'api', 'pages', 'http', 'words', 'lan', 'backup', 'install', 'importing'],
    ...['operating', 'pushes', 'accounts', 'requests', 'notices', 'store', 'crypto', 'domain'],
  ],
  cli: [
    ...['app', 'settings', 'client', 'selftest', 'install', 'backup', 'importing', 'accounts', 'age'],
    'domain',
  ],
  client: ['domain'],
  requests: ['pushes', 'store', 'crypto', 'age', 'domain'],
  notices: ['pushes', 'accounts', 'words', 'store', 'crypto', 'domain'],
  pages: [
    ...['api', 'http', 'pushes', 'accounts', 'requests', 'notices', 'operating', 'lan', 'backup', 'words'],
    ...['age', 'domain'],
  ],
  api: ['http', 'pushes', 'accounts', 'requests', 'notices', 'operating', 'words', 'domain'],
  http: ['domain'],
  lan: ['operating', 'crypto', 'domain'],
  backup: ['operating', 'pushes', 'store', 'crypto', 'age', 'domain'],
  install: ['settings', 'store', 'crypto', 'domain'],
  importing: ['pushes', 'accounts', 'store', 'crypto', 'domain'],
  operating: ['pushes', 'requests', 'notices', 'lan', 'store', 'crypto', 'domain'],
  pushes: ['store', 'crypto', 'domain'],
  accounts: ['pushes', 'store', 'crypto', 'domain'],
  store: ['crypto', 'domain'],
  settings: ['domain'],
  selftest: ['domain'],
  words: ['domain'],
  crypto: [],
  age: [],
  domain: [],
  text: [],
}

type Source = { path: string; room: string; text: string; imports: { from: string; isType: boolean }[] }

const sources: Source[] = [...new Glob('**/*.{ts,tsx}').scanSync(SRC)].sort().map((path) => {
  const text = readFileSync(join(SRC, path), 'utf8')
  const imports = [
    ...text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'/gms),
    ...text.matchAll(/\b(?:import|require)\((\s*)'([^']+)'\)/g),
  ].map((match) => ({ from: match[2] ?? '', isType: match[1]?.startsWith('type') === true }))
  return { path, room: roomOf(path), text, imports }
})

function roomOf(path: string): string {
  return (path.split('/')[0] ?? '').replace(/(\.d)?\.(tsx?|sql|css|js)$/, '')
}

function violations(rule: (source: Source) => boolean): string[] {
  return sources.filter(rule).map(({ path }) => path)
}

const withoutComments = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')

test('rooms import only what the table allows', () => {
  const wrong = sources.flatMap(({ path, room, imports }) =>
    imports
      .filter(({ from }) => from.startsWith('.') && /\.tsx?$/.test(from))
      .map(({ from, isType }) => ({
        path,
        isType,
        room,
        to: roomOf(relative(SRC, resolve(SRC, dirname(path), from))),
      }))
      .filter(({ room, to }) => to !== room && to !== 'text' && !ROOMS[room]?.includes(to)),
  )
  expect(sources.length).toBeGreaterThan(50)
  expect(wrong).toEqual([])
})

/** The rooms of use cases, which act on pushes and accounts. */
const USE_CASES = ['pushes', 'accounts', 'requests', 'notices']

/**
 * Matches what a contract may import: the domain, other contracts, and, in `contract.ts`, the operations
 * whose types it infers.
 */
const CONTRACT_IMPORTS = /^\.\.\/domain\/|^\.\/(\w+-)?contract\.ts$/
const OPERATIONS = ['./operations.ts', './pushes/imports.ts']

test('use cases import only types of contracts of the store, and contracts only types', () => {
  const wrong = sources.flatMap(({ path, room, imports }) => {
    const isContract = /^store\/(\w+-)?contract\.ts$/.test(path)
    if (!USE_CASES.includes(room) && !isContract) return []
    const allowed = isContract ? CONTRACT_IMPORTS : /^(?!.*\/store\/(?!(\w+-)?contract\.ts$))/
    const isOperation = (from: string) => path === 'store/contract.ts' && OPERATIONS.includes(from)
    return imports
      .filter(({ from, isType }) => !(allowed.test(from) || isOperation(from)) || (isContract && !isType))
      .map(({ from }) => [path, from])
  })
  expect(sources.filter(({ path }) => /^store\/(\w+-)?contract\.ts$/.test(path))).toHaveLength(9)
  expect(wrong).toEqual([])
})

/** Lines that are neither blank nor comment; the texts of the catalogues are not code. */
function linesOfCode(path: string): number {
  const text = readFileSync(join(SRC, path), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  return text.split('\n').filter((line) => !/^\s*(\/\/|--|$)/.test(line)).length
}

test('every room is in the table (prints the code lines of each)', () => {
  const counted = new Map<string, number>()
  for (const path of new Glob('**/*.{ts,tsx,sql,css,js}').scanSync(SRC)) {
    counted.set(roomOf(path), (counted.get(roomOf(path)) ?? 0) + linesOfCode(path))
  }
  const total = [...counted.values()].reduce((sum, lines) => sum + lines, 0)
  const rooms = [...counted].sort(([, a], [, b]) => b - a).map(([room, lines]) => `${room} ${lines}`)
  console.log(`${total} code lines: ${rooms.join(', ')}`)
  expect([...counted.keys()].filter((room) => ROOMS[room] === undefined)).toEqual([])
})

/** Only print these: a small file with one importer may belong to that importer. */
test('prints the files that may be too small or too large', () => {
  const importers = (path: string) =>
    sources.filter((other) => importsOf(other.path, () => true).includes(path))
  const small = sources.filter(({ path }) => linesOfCode(path) < 25 && importers(path).length === 1)
  const large = sources.filter(({ path }) => linesOfCode(path) > 400)
  const list = (found: Source[]) => found.map(({ path }) => `\n  ${path}`).join('')
  console.log(`${small.length} files of less than 25 lines with one importer:${list(small)}`)
  console.log(`${large.length} files of more than 400 lines:${list(large)}`)
})

test('engines of the store never import each other, and shared files import neither', () => {
  const isOpening = (path: string) => path.startsWith('store/opening/')
  const engineOf = (path: string) => /^store\/(sqlite|postgres)\//.exec(path)?.[1] ?? null
  const wrong = sources
    .filter(({ path, room }) => room === 'store' && !isOpening(path))
    .flatMap(({ path }) =>
      importsOf(path, () => true)
        .filter((to) => engineOf(to) !== null && engineOf(to) !== engineOf(path))
        .map((to) => [path, to]),
    )
  expect(wrong).toEqual([])
})

/** The files that both engines share. */
const STORE_FILES = [
  'steps',
  'statements',
  'tables',
  'instance',
  'refusals',
  'shared-state',
  'operations',
  'requests',
  'health',
  'durable-steps',
].map((name) => `store/${name}.ts`)

test('the store never imports its opening, and only contracts and steps lie beside its rooms', () => {
  const inStore = sources.filter(({ room }) => room === 'store').map(({ path }) => path)
  const wrong = inStore
    .filter((path) => !path.startsWith('store/opening/'))
    .filter((path) => importsOf(path, () => true).some((to) => to.startsWith('store/opening/')))
  expect(wrong).toEqual([])
  const beside = inStore.filter((path) => !path.includes('/', 'store/'.length))
  expect(
    beside.filter((path) => !/^store\/(\w+-)?contract\.ts$/.test(path) && !STORE_FILES.includes(path)),
  ).toEqual([])
})

test('the command line imports only types of accounts and imports', () => {
  const wrong = sources.flatMap(({ path, room, imports }) =>
    room === 'cli'
      ? imports.filter(({ from, isType }) => /\/(accounts|importing)\//.test(from) && !isType).map(() => path)
      : [],
  )
  expect(wrong).toEqual([])
})

test.each([
  ['elysia', 'http'],
  ['@elysiajs/swagger', 'http'],
  ['typebox', 'http'],
  ['drizzle-orm', 'store'],
  ['bun:sqlite', 'store or importing'],
  ['nodemailer', 'notices'],
])('%s appears only in %s', (library, homes) => {
  const uses = ({ imports }: Source) =>
    imports.some(({ from }) => from === library || from.startsWith(`${library}/`))
  expect(sources.some(uses)).toBe(true)
  expect(violations((source) => !homes.split(' or ').includes(source.room) && uses(source))).toEqual([])
})

test('only main reads arguments and environment', () => {
  const reads = /process\.(env|argv)/
  expect(
    violations(({ room, text }) => room !== 'main' && room !== 'env' && reads.test(withoutComments(text))),
  ).toEqual([])
})

test('only main reads the clock', () => {
  const reads = /Date\.now|new Date\(\)/
  expect(
    violations(({ room, text }) => room !== 'main' && room !== 'app' && reads.test(withoutComments(text))),
  ).toEqual([])
})

test('only crypto generates randomness', () => {
  const draws = /Math\.random|randomBytes|getRandomValues|randomUUID/
  expect(violations(({ room, text }) => room !== 'crypto' && draws.test(withoutComments(text)))).toEqual([])
})

test('the command line is parsed before any part of the server is loaded', () => {
  const loaded = new Set(['main.ts'])
  for (const path of loaded) {
    const text = sources.find((source) => source.path === path)?.text ?? ''
    for (const [, from = ''] of text.matchAll(
      /^(?:import|export)\s+(?!type\b)[^'"]*?from\s+'(\.[^']+\.tsx?)'/gms,
    ))
      loaded.add(relative(SRC, resolve(SRC, dirname(path), from)))
  }
  const rooms = new Set([...loaded].map(roomOf))
  expect([...rooms].sort()).toEqual(['cli', 'client', 'domain', 'install', 'main', 'settings', 'text'])
  // Loading these takes 20 ms of CPU time; loading the whole server would take 70.
  expect(loaded.size).toBeLessThan(110)
})

test('parts that few requests need are loaded at first use', () => {
  const lazy = [
    ...['otpauth', 'bowser', 'qr', 'aws4fetch', 'tlds', 'cli-progress', 'node:zlib', 'node:readline'],
    ...['nodemailer', '\\./provider\\.ts'],
  ]
  const imported = new RegExp(`^import (?!type )[^']*from '(${lazy.join('|')})'`, 'm')
  expect(violations(({ text }) => imported.test(text))).toEqual([])
  // Loading the formats of a language takes milliseconds.
  expect(violations(({ text }) => /^(export )?const \w+ = new Intl\./m.test(text))).toEqual([])
})

test('the environment is set before anything else is imported', () => {
  const main = sources.find(({ path }) => path === 'main.ts')
  expect(/^import\s+'([^']+)'/m.exec(main?.text ?? '')?.[1]).toBe('./env.ts')
  expect((main?.text ?? '').indexOf("'./env.ts'")).toBeLessThan((main?.text ?? '').indexOf(' from '))
})

/** Returns the import cycles, each once. */
function circles(next: (path: string) => string[]): string[][] {
  const isBehind = (from: string) => {
    const seen = new Set<string>()
    const open = next(from)
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue
      seen.add(path)
      open.push(...next(path))
    }
    return seen
  }
  const behind = new Map(sources.map(({ path }) => [path, isBehind(path)]))
  const found = sources
    .filter(({ path }) => behind.get(path)?.has(path))
    .map(({ path }) => [...behind].filter(([other, seen]) => seen.has(path) && behind.get(path)?.has(other)))
    .map((members) => members.map(([path]) => path))
  return [...new Map(found.map((circle) => [circle.join(), circle])).values()]
}

function importsOf(path: string, isWanted: (isType: boolean) => boolean): string[] {
  const { imports = [] } = sources.find((source) => source.path === path) ?? {}
  return imports
    .filter(({ from, isType }) => from.startsWith('.') && isWanted(isType))
    .map(({ from }) => relative(SRC, resolve(SRC, dirname(path), from)))
}

test('there are no import cycles, not even of types', () => {
  expect(circles((path) => importsOf(path, () => true))).toEqual([])
})

/** The rooms on the path of a request. */
const WEB = ['http', 'api', 'pages']

test('only http/urls.ts contains paths of routes and links', () => {
  /**
   * Matches a literal that begins with a path, or continues one after a base, but no code in the text of a
   * description.
   */
  const PATH = /(?<!\\|\b(?:at|in) )['"`]\/[a-z:][^'"`\n]*|\}\/[a-z:][\w/.-]*/g
  const written = sources
    .filter(({ path, room }) => WEB.includes(room) && path !== 'http/urls.ts')
    .flatMap(({ path, text }) =>
      (withoutComments(text.replace(/^.* from '.*$/gm, '')).match(PATH) ?? []).map(
        (found) => `${path}: ${found}`,
      ),
    )
  const linksToRoot = /\b(?:href|path|action|location)[=(:]\s*\{?['"`]\/['"`]/
  expect(written).toEqual([])
  expect(violations(({ room, text }) => WEB.includes(room) && linksToRoot.test(text))).toEqual([])
})

test('one file writes the headers for security and caches', () => {
  const names =
    /['"`](cache-control|x-content-type-options|content-security-policy|referrer-policy|x-robots-tag|x-frame-options|strict-transport-security|cross-origin-[a-z]+-policy|permissions-policy)['"`]\s*[:,\]]/i
  const writes = violations(({ room, text }) => WEB.includes(room) && names.test(text))
  expect(writes).toEqual(['http/answers.ts'])
})

/** Lists that are read from top to bottom, and so may be longer than other files. */
const LISTS: Record<string, number> = {
  'api/answer-tables.ts': 280,
  'http/urls.ts': 351,
  'store/tables.ts': 520,
}

test('every file opens with a sentence, stays short and contains no TODO', () => {
  expect(violations(({ text }) => !/^\/\/ .+/.test(text))).toEqual([])
  // Do not count comments, so that a longer, clearer sentence does not make this fail.
  expect(violations(({ path }) => linesOfCode(path) > (LISTS[path] ?? 260))).toEqual([])
  expect(violations(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text))).toEqual([])
  expect(violations(({ path }) => /(^|\/)index\.tsx?$/.test(path))).toEqual([])
})
