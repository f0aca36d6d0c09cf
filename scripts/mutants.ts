// Changes one token of the source at a time and tells which changes the quick tests do not notice:
// `npm run mutants -- --sample 200 --seed 7 [--only src/domain]`. Works on copies; takes about half a minute a change.

import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import { applyMutation, findMutations, type Mutation } from './mutants/mutations.ts'
import { QUICK_TESTS } from './tests.ts'

const PROJECT = join(import.meta.dir, '..')
const COPIED = ['src', 'test', 'scripts', 'package.json', 'tsconfig.json', 'bunfig.toml', 'README.md', 'docs']
/** Where a wrong token does harm; pages and texts are looked at by people. */
const MUTATED = [
  'src/domain',
  'src/services',
  'src/crypto',
  'src/store',
  'src/http/door',
  'src/http/intake',
  'src/http/api',
]
/** A change that makes a test hang is noticed, too. */
const LIMIT_MS = 5 * 60_000

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
})

function listMutations(roots: readonly string[]): Mutation[] {
  return roots.flatMap((root) =>
    [...new Glob('**/*.ts').scanSync(join(PROJECT, root))].sort().flatMap((file) => {
      const path = join(root, file)
      return findMutations(path, readFileSync(join(PROJECT, path), 'utf8'))
    }),
  )
}

/** Picks `count` of `items` without repetition: the same ones for the same seed (a linear congruential generator). */
function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  const rest = [...items]
  const picked: T[] = []
  let state = seed
  while (picked.length < count && rest.length > 0) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    picked.push(...rest.splice(state % rest.length, 1))
  }
  return picked
}

function makeCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'oncebox-mutants-'))
  for (const name of COPIED) cpSync(join(PROJECT, name), join(folder, name), { recursive: true })
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** The tests of the same room first: they notice most changes within a second. */
function testsFor({ path }: Pick<Mutation, 'path'>): string[][] {
  const room = path
    .replace(/^src\//, 'test/')
    .split('/')
    .slice(0, 2)
    .join('/')
  const own = QUICK_TESTS.filter((test) => test === room)
  return [own, QUICK_TESTS.filter((test) => !own.includes(test))].filter((tests) => tests.length > 0)
}

async function passes(folder: string, tests: readonly string[]): Promise<boolean> {
  const child = Bun.spawn(
    [process.execPath, 'test', '--bail', '--timeout', '60000', ...tests.map((test) => `./${test}`)],
    {
      cwd: folder,
      stdout: 'ignore',
      stderr: 'ignore',
      stdin: 'ignore',
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    },
  )
  return (await child.exited) === 0
}

async function isNoticed(folder: string, mutation: Mutation): Promise<boolean> {
  const file = join(folder, mutation.path)
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, applyMutation(source, mutation))
  try {
    for (const tests of testsFor(mutation)) if (!(await passes(folder, tests))) return true
    return false
  } finally {
    writeFileSync(file, source)
  }
}

const waiting = sample(listMutations(values.only ?? MUTATED), Number(values.sample), Number(values.seed))
const number = waiting.length
const living: Mutation[] = []
let done = 0

async function work(): Promise<void> {
  const folder = makeCopy()
  try {
    for (let mutation = waiting.pop(); mutation !== undefined; mutation = waiting.pop()) {
      const noticed = await isNoticed(folder, mutation)
      done += 1
      if (!noticed) living.push(mutation)
      console.log(
        `${done}/${number} ${noticed ? 'noticed' : 'LIVES  '} ${mutation.path}:${mutation.line} ${mutation.label}`,
      )
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const unchanged = makeCopy()
const isGreen = await passes(unchanged, QUICK_TESTS)
rmSync(unchanged, { recursive: true, force: true })
if (!isGreen) {
  console.error('The quick tests fail without any change: mend them first (npm run test:quick).')
  process.exit(1)
}
await Promise.all(Array.from({ length: Number(values.workers) }, work))
console.log(`${number - living.length} of ${number} changes were noticed`)
for (const { path, line, label } of living) console.log(`lives: ${path}:${line} ${label}`)
