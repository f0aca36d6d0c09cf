// Changes one token of the source at a time and reports which changes the quick tests do not notice: `npm run
// mutants -- --sample 200 --seed 7 [--only src/domain] [--workers 1]`, or `--at src/domain/push.ts:40` for
// every change of one line. It works on copies, so the project can be edited meanwhile. See docs/testing.md.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Glob } from 'bun'
import { findMutations, type Mutation } from './mutants/mutations.ts'
import { type Bench, createBench, type Verdict } from './mutants/trial.ts'
import { QUICK_TESTS } from './tests.ts'

const PROJECT = join(import.meta.dir, '..')
/** Rooms in which a wrong token does harm. Pages and texts are reviewed by eye. */
const MUTATED = [
  'src/domain',
  'src/services',
  'src/crypto',
  'src/store',
  'src/http/door',
  'src/http/intake',
  'src/api',
]
const ACCEPTED = 'docs/testing.md'

const { values } = parseArgs({
  options: {
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    at: { type: 'string', multiple: true },
    workers: { type: 'string', default: String(availableParallelism()) },
  },
})

const read = (path: string) => readFileSync(join(PROJECT, path), 'utf8')

/** `roots` are folders or single files. */
function listMutations(roots: readonly string[]): Mutation[] {
  const filesIn = (root: string) => [...new Glob('**/*.ts').scanSync(join(PROJECT, root))].sort()
  const paths = roots.flatMap((root) =>
    root.endsWith('.ts') ? root : filesIn(root).map((file) => join(root, file)),
  )
  return paths.flatMap((path) => findMutations(path, read(path)))
}

/**
 * Picks `count` of `items` without repetition: the same ones for the same seed (a linear congruential
 * generator).
 */
function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  const rest = [...items]
  const picked: T[] = []
  let state = seed
  while (picked.length < count && rest.length > 0) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    picked.push(...rest.splice(Math.floor((state / 2 ** 32) * rest.length), 1))
  }
  return picked
}

function chooseMutations(): Mutation[] {
  if (values.at === undefined)
    return sample(listMutations(values.only ?? MUTATED), Number(values.sample), Number(values.seed))
  return values.at.flatMap((place) => {
    const [path = '', line] = place.split(':')
    return findMutations(path, read(path)).filter((mutation) => String(mutation.line) === line)
  })
}

const place = ({ path, line, label }: Mutation) => `${path}:${line} ${label}`

/** Whether docs/testing.md names the file, the exact line, and the change. */
function isAccepted({ path, line, label }: Mutation): boolean {
  const text = read(path).split('\n')[line - 1]?.trim() ?? ''
  const cells = [path, text, label].map((cell) => `\`${cell.replaceAll('|', '\\|')}\``)
  return read(ACCEPTED)
    .split('\n')
    .some((row) => row.startsWith('|') && cells.every((cell) => row.includes(cell)))
}

function explain(mutation: Mutation, verdict: Verdict): string {
  if (verdict.outcome === 'noticed') return `noticed       ${place(mutation)} (${verdict.by})`
  if (verdict.outcome === 'not compiled') return `not compiled  ${place(mutation)}`
  return `${isAccepted(mutation) ? 'accepted     ' : 'LIVES        '} ${place(mutation)}`
}

const waiting = chooseMutations()
const number = waiting.length
const living: Mutation[] = []
let done = 0
const benches: Bench[] = []

async function work(): Promise<void> {
  const bench = createBench({ project: PROJECT, tests: QUICK_TESTS, onWarning: console.warn })
  benches.push(bench)
  for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
    const verdict = await bench.judge(mutation)
    done += 1
    if (verdict.outcome === 'lives') living.push(mutation)
    console.log(`${done}/${number} ${explain(mutation, verdict)}`)
  }
}

function removeBenches(): void {
  for (const bench of benches) bench.remove()
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    removeBenches()
    process.exit(130)
  })
}

try {
  await Promise.all(Array.from({ length: Number(values.workers) }, work))
} finally {
  removeBenches()
}
console.log(`${number - living.length} of ${number} changes were noticed`)
for (const mutation of living)
  console.log(`${isAccepted(mutation) ? 'accepted' : 'LIVES'}: ${place(mutation)}`)
